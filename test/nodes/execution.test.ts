import { isOpen } from '../../client/paying/book';
import { digestOf } from '../../client/paying/order-name';
import type { IDataObject } from 'n8n-workflow';

import {
	cancelSignal,
	continuesOnError,
	hasErrorOutput,
	ledgerOf,
	runsAsTool,
} from '../../nodes/shared/execution';
import { contextOf } from '../support/context';

const request = digestOf({ type: 'image', body: { prompt: 'A cat' } });

describe('what a step knows of its execution', () => {
	it('is the signal of the user’s stop', () => {
		const { signal } = new AbortController();
		expect(cancelSignal(contextOf({ cancel: signal }).context)).toBe(signal);
	});

	it('is a signal that never comes where n8n gives none', () => {
		expect(cancelSignal(contextOf().context).aborted).toBe(false);
	});

	it.each([
		[{ isTool: true }, true],
		[{ node: { type: 'n8n-nodes-media-generation.imageGenerationTool' } }, true],
		[{}, false],
	])('is whether an agent runs it: %j', (given, tool) => {
		expect(runsAsTool(contextOf(given).context)).toBe(tool);
	});

	it('is what becomes of failed items', () => {
		expect(continuesOnError(contextOf({ continueOnFail: true }).context)).toBe(true);
		expect(continuesOnError(contextOf().context)).toBe(false);
		const separate = contextOf({ node: { onError: 'continueErrorOutput' } });
		expect(hasErrorOutput(separate.context)).toBe(true);
		expect(hasErrorOutput(contextOf().context)).toBe(false);
	});
});

describe('the ledger of a step', () => {
	it('is kept with the execution, and comes back from it', () => {
		const kept: IDataObject = {};
		const first = ledgerOf(contextOf({ kept }).context);
		first.intend(first.key({ itemIndex: 0 }, request), 'name');
		const stored = JSON.parse(JSON.stringify(kept)) as IDataObject;
		const later = ledgerOf(contextOf({ kept: stored }).context);
		expect(isOpen(later.find(later.key({ itemIndex: 0 }, request)))).toBe(true);
	});

	it('names an order the same in every retry of the execution, and otherwise in another execution', () => {
		const kept: IDataObject = {};
		const first = ledgerOf(contextOf({ kept }).context).nameOf({ itemIndex: 0 }, request);
		const stored = JSON.parse(JSON.stringify(kept)) as IDataObject;
		expect(ledgerOf(contextOf({ kept: stored }).context).nameOf({ itemIndex: 0 }, request)).toBe(
			first,
		);
		expect(ledgerOf(contextOf({ kept: {} }).context).nameOf({ itemIndex: 0 }, request)).not.toBe(
			first,
		);
	});

	it('is another for each run of a loop', () => {
		const kept: IDataObject = {};
		const first = ledgerOf(contextOf({ kept, runIndex: 0 }).context);
		first.intend(first.key({ itemIndex: 0 }, request), 'name');
		const second = ledgerOf(contextOf({ kept, runIndex: 1 }).context);
		expect(isOpen(second.find(second.key({ itemIndex: 0 }, request)))).toBe(false);
		const same = ledgerOf(contextOf({ kept }).context);
		expect(isOpen(same.find(same.key({ itemIndex: 0 }, request)))).toBe(true);
	});
});

import type { Express, Response } from 'express';
import { isFaultOrder } from '../fault-orders';
import { isObject } from '../basics/fields';
import type { Fields } from '../basics/fields';
import type { GenerationService } from '../service';
import { jsonBody } from './request';

type Handler = (body: Fields, service: GenerationService) => unknown;

function textIn(body: Fields, name: string): string {
	const value = body[name];
	if (typeof value !== 'string') throw new Error(`"${name}" must be a string.`);
	return value;
}

function numberIn(body: Fields, name: string): number {
	const value = body[name];
	if (typeof value !== 'number' || value < 0) throw new Error(`"${name}" must be a number from 0.`);
	return value;
}

const reads: Readonly<Record<string, (service: GenerationService) => unknown>> = {
	books: ({ books }) => ({ generations: books.generations, totals: books.totals }),
	requests: ({ requests }) => requests.all,
	faults: ({ faults }) => faults.pending,
	accounts: (service) => {
		service.settle();
		return service.accounts
			.all()
			.map((account) => ({ ...account, running: service.runningOf(account.name) }));
	},
	keys: ({ accounts }) =>
		accounts.keys().map(({ name, key, account, state }) => ({
			name,
			key,
			account: account.name,
			state,
		})),
};

function orderFaults(body: unknown, service: GenerationService): unknown {
	const orders: unknown[] = Array.isArray(body) ? body : [body];
	const good = orders.filter(isFaultOrder);
	if (good.length < orders.length) throw new Error('Not a fault order: see sandbox/README.md.');
	service.faults.order(...good);
	return service.faults.pending;
}

const writes: Readonly<Record<string, Handler>> = {
	reset: (_body, service) => service.reset(),
	occupy: (body, service) => service.occupy(textIn(body, 'account'), numberIn(body, 'count')),
	accounts: (body, service) => {
		const { accounts } = service;
		// A refund that is due would otherwise be added to the new balance.
		service.settle();
		const account = accounts.account(textIn(body, 'account'));
		if (body.credits !== undefined) accounts.setCredits(account.name, numberIn(body, 'credits'));
		if (body.concurrency !== undefined) {
			account.concurrency = numberIn(body, 'concurrency');
		}
		return account;
	},
	keys: (body, { accounts }) => {
		const state = textIn(body, 'state');
		if (state !== 'active' && state !== 'revoked' && state !== 'expired') {
			throw new Error('"state" must be active, revoked or expired.');
		}
		accounts.keyOf(textIn(body, 'key')).state = state;
	},
	finish: (body, service) => {
		const failReason = body.failReason === undefined ? undefined : textIn(body, 'failReason');
		service.finish(textIn(body, 'id'), failReason);
	},
};

function answerWith(response: Response, make: () => unknown): void {
	try {
		const made = make();
		response.json(made ?? { ok: true });
	} catch (error) {
		response.status(400).json({ message: error instanceof Error ? error.message : 'Bad order.' });
	}
}

/** Adds the control interface for other processes, under `/_sandbox/` (sandbox/README.md). */
export function addControlRoutes(app: Express, service: GenerationService): void {
	for (const [name, read] of Object.entries(reads)) {
		app.get(`/_sandbox/${name}`, (_request, response) => answerWith(response, () => read(service)));
	}
	app.post('/_sandbox/faults', (request, response) =>
		answerWith(response, () => orderFaults(jsonBody(request), service)),
	);
	app.delete('/_sandbox/faults', (_request, response) =>
		answerWith(response, () => service.faults.clear()),
	);
	for (const [name, write] of Object.entries(writes)) {
		app.post(`/_sandbox/${name}`, (request, response) =>
			answerWith(response, () => {
				const parsed = jsonBody(request);
				if (!isObject(parsed)) throw new Error('The body must be a JSON object.');
				return write(parsed, service);
			}),
		);
	}
}

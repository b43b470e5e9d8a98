import type { IDataObject } from 'n8n-workflow';

import { NOTHING_KNOWN } from '../support/answers';
import { checks, VALUE, type Check } from './input-cases';
import { urlChecks } from './input-urls';
import { openStage, sha256 } from './stage';

const stage = openStage();

const itemOf = (value: unknown): IDataObject => ({ prompt: 'A boat', value }) as IDataObject;

/** Runs one item for each value with Continue On Fail. Returns the output, and the bodies that were sent. */
async function goOn(
	{ node, parameters }: Pick<Check, 'node' | 'parameters'>,
	values: readonly unknown[],
) {
	const quick = { prompt: 'A boat', waitForCompletion: false, downloadOutput: false };
	const settings = { onError: 'continueRegularOutput' as const };
	const run = await stage.run(
		node,
		{ ...quick, ...parameters },
		{ items: values.map(itemOf), settings },
	);
	const output = run.output('Step').map(({ json }) => json);
	return { output, bodies: output.map(({ id }) => stage.sandbox.books.find(String(id))?.request) };
}

/** The value at a path of a body. Megabytes are shortened. */
function valueAt(path: string, body: unknown): unknown {
	const at = (object: unknown, name: string) => (object as IDataObject | undefined)?.[name];
	return short(path.split('.').reduce(at, body));
}

function short(value: unknown): unknown {
	return typeof value === 'string' && value.length > 1000 ? sha256(Buffer.from(value)) : value;
}

describe.each([...checks, ...urlChecks])(
	'$field',
	({ node, parameters, wire, good, as = good, bad }) => {
		const refused = Object.entries(bad).flatMap(([says, values]) =>
			values.map((value) => ({ says, value })),
		);

		it('that is invalid is refused before anything is sent', async () => {
			const [{ says, value }] = refused;
			const items = [itemOf(good[0]), itemOf(value)];
			const run = await stage.run(node, { prompt: 'A boat', ...parameters }, { items });
			expect(run.status).toBe('error');
			expect(run.error).toMatchObject({
				name: 'NodeApiError',
				message: expect.stringContaining(says),
				description: expect.stringMatching(
					/^[A-Z].+ Code: invalid_input\.( Generation: unknown\.)?$/s,
				),
				context: { itemIndex: 1, code: 'invalid_input' },
			});
			expect(stage.arrived).toBe(0);
		});

		it('is accepted or refused item by item with Continue On Fail', async () => {
			const isWait = node === 'waitForCompletion';
			const values = [...refused.map(({ value }) => value), ...good];
			const { output, bodies } = await goOn({ node, parameters }, values);
			expect(output.slice(0, refused.length)).toStrictEqual(
				refused.map(({ says }) => ({
					...NOTHING_KNOWN,
					...(isWait && parameters.generationId !== VALUE && { id: 'unknown' }),
					error: expect.stringContaining(says) as string,
					error_code: 'invalid_input',
				})),
			);
			for (const { error } of output.slice(0, refused.length)) {
				expect(String(error).length).toBeLessThan(700);
			}
			const made = output.slice(refused.length);
			if (isWait) {
				const ids = parameters.generationId === VALUE ? as : good.map(() => 'unknown');
				const asked = stage.sandbox.requests
					.on('status')
					.map(({ path }) => decodeURIComponent(path));
				// Items with the same ID share its status.
				expect(asked).toEqual([...new Set(ids.map((id) => `/v1/generations/${String(id)}`))]);
			} else {
				expect(made.map(({ error }) => error)).toEqual(good.map(() => undefined));
				expect(stage.sandbox.requests.on('create')).toHaveLength(good.length);
			}
			if (!wire) return;
			const sent = bodies.slice(refused.length).map((body) => valueAt(wire, body));
			expect(sent).toEqual(as.map(short));
		});
	},
);

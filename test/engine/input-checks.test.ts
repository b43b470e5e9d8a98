import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { NOTHING_KNOWN } from '../support/answers';
import { testSeed } from '../support/seed';
import { checks, VALUE, type Check } from './input-cases';
import { urlChecks } from './input-urls';
import { byId, openStage, sha256 } from './stage';

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

describe('whatever an expression returns', () => {
	const anything = fc.oneof(
		fc.string(),
		fc.string({ unit: 'binary' }),
		fc.double(),
		fc.integer(),
		fc.constantFrom(null, true, false, NaN, Infinity, [], {}),
	);
	const part = (...texts: string[]) => fc.constantFrom(...texts);
	const urls = fc
		.tuple(
			part('http:', 'https:', 'HTTPS:', 'ftp:', 'file:', 'h\ttp:', ''),
			part('//', '/', '', '\\\\', '///'),
			part('localhost', '127.0.0.1', 'example.com', '10.0.0.1', ''),
			fc.webPath(),
		)
		.map((parts) => parts.join(''));

	it.each<[string, string, Check['parameters'], fc.Arbitrary<unknown>, RegExp]>([
		[
			'a size is two whole numbers above 0 with an x between them',
			'size',
			{ options: { size: VALUE } },
			anything,
			/^[1-9][0-9]*x[1-9][0-9]*$/,
		],
		[
			'a URL is https, or http on this machine',
			'inputs.0.value',
			{ referenceInputs: { input: [{ source: 'url', url: VALUE }] } },
			fc.oneof(urls, anything),
			/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1))/i,
		],
	])('%s', async (_, wire, parameters, values, pattern) => {
		const step = {
			node: 'imageGeneration',
			parameters: { model: byId('aurora-image-1'), ...parameters },
		};
		const { output, bodies } = await goOn(
			step,
			fc.sample(values, { numRuns: 200, seed: testSeed }),
		);
		const sent = bodies.map((body) => valueAt(wire, body)).filter((value) => value !== undefined);
		for (const value of sent) expect(value).toMatch(pattern);
		for (const { error_code: code } of output) {
			expect(['invalid_input', undefined]).toContain(code);
		}
	});
});

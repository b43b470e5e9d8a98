import { items, keyed, openKeyedStage } from './keyed';

const { stage, execute } = openKeyedStage();
const boats = items(['a', 'a boat'], ['b', 'a ship']);
const withKey = async (idempotencyKey: string) =>
	await execute(boats, { ...keyed, options: { idempotencyKey } });

/** All items would share such a key, and with it one generation. */
describe('an idempotency key whose expression has no value', () => {
	it.each([
		"={{ 'order-' + $json.mistyped }}",
		'={{ `order_${$json.mistyped}` }}',
		'={{ `${$json.mistyped}-2026` }}',
		"={{ 'order ' + null }}",
		"={{ 'order-' + Number($json.key) }}",
		"={{ [$json.mistyped, $json.missing].join('-') }}",
		"={{ 'order-' + new Date('no date') }}",
		"={{ DateTime.fromISO('no date').toISO() + '-order' }}",
		"={{ 'order-' + new Map() }}",
		"={{ 'order-' + $json.key.trim }}",
		'=order-{{ $json.key.trim }}',
		'=order-{{ DateTime.fromISO("no date") }}',
	])('is an error before anything is sent: %s', async (key) => {
		const run = await withKey(key);
		expect(run.error).toMatchObject({
			message: expect.stringMatching(/Idempotency Key.* (no value|contains)/) as string,
			context: { code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});

	it.each([
		'={{ "undefinedly-" + $json.key }}',
		'={{ "Nullarbor " + $json.key }}',
		'={{ "日本-" + $json.key }}',
		'=annulled-{{ $json.key }}',
	])('is not confused with a text that only looks similar: %s', async (key) => {
		expect((await withKey(key)).status).toBe('success');
		expect(stage.bodies).toHaveLength(2);
	});

	it('may be written by the user as fixed text', async () => {
		expect(
			(await execute(items(['a', 'a boat']), { ...keyed, options: { idempotencyKey: 'null' } }))
				.status,
		).toBe('success');
	});
});

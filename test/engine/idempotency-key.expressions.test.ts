import { items, keyed, openKeyedStage } from './keyed';

const { stage, rows, execute } = openKeyedStage();
const boats = items(['a', 'a boat'], ['b', 'a ship']).map((item) => ({ ...item, none: null }));
const withKey = async (idempotencyKey: string) =>
	await execute(boats, { ...keyed, options: { idempotencyKey } });

/** All items would share such a key, and with it one generation. */
describe('an idempotency key whose expression has no value', () => {
	it.each([
		'={{ $json.mistyped }}',
		'={{ $json.key }}-{{ $json.mistyped }}',
		"={{ 'order-' + $json.mistyped }}",
		'={{ `order_${$json.mistyped}` }}',
		"={{ 'order-' + new Date('no date') }}",
		"={{ 'order-' + new Map() }}",
		"={{ 'order-' + $json.key.trim }}",
		'=order-{{ DateTime.fromISO("no date") }}',
		'={{ ($json.key + "-" + $json.mistyped).toUpperCase() }}',
		'={{ `sku${$json.mistyped}` }}',
		'={{ "https://shop.example/?a=1&sku=" + $json.mistyped }}',
	])('is an error before anything is sent: %s', async (key) => {
		const run = await withKey(key);
		expect(run.error).toMatchObject({
			message: expect.stringMatching(
				/Idempotency Key.* (no value|contains|undefined|made of values)/,
			) as string,
			context: { code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});

	it.each([
		'={{ $json.key + $json.price }}',
		'={{ ($json.key + "-" + $json.price).hash() }}',
		'={{ [$json.key, $json.price].join("-") }}',
		'={{ $("Start").item.json.key + "-" + $itemIndex }}',
		'={{ $input.item.json.key + $input.all().length }}',
		'={{ $workflow.id + $prevNode.name + $runIndex + $json.key }}',
		'={{ $now.minus({ days: 1 }).weekNumber + $today.year + $json.key }}',
		'={{ DateTime.fromISO($json.day).toISODate() + $json.key }}',
		'={{ $json.key.trim().toLowerCase().replace(/ +/g, "-") + "-x" }}',
		'={{ $json.tags.first() + $json.tags.last() + $json.tags.length + $json.key }}',
		'={{ $json["product"]["sizes"][0].name + $json.key }}',
		'={{ $json[$json.field] + "-" + $json.key }}',
		'={{ JSON.stringify($json.product).hash() + $json.key }}',
		'={{ "$5 or $price in US$.now-" + $json.key }}',
		'={{ $json.none + "-" + $json.key + $json.zero + $json.off }}',
		'={{ $json.key + "-" + ($json.variant ?? "null") }}',
		'={{ $json.key + ($json.size || "-one-size") }}',
		'={{ $json.key + ($json.size ? "-" + $json.size : "") }}',
		'={{ [$json.key, $json.size].filter(Boolean).join("-") }}',
		'={{ $if($json.size, $json.key + $json.size, $json.key) }}',
		'={{ $json.key + $ifEmpty($json.size, "-one-size") }}',
	])('is accepted if all of its parts have a value: %s', async (key) => {
		const product = { sizes: [{ name: 'small' }] };
		const list = boats.map((boat, zero) => ({
			...boat,
			product,
			price: 7,
			day: '2026-11-27',
			tags: ['a', 'b'],
			field: 'price',
			none: '',
			zero,
			off: false,
		}));
		const run = await execute(list, { ...keyed, options: { idempotencyKey: key } });
		expect(run.error).toBeUndefined();
		expect(run.status).toBe('success');
	});
});

describe('an idempotency key with accents', () => {
	const composed = 'caf\u00e9';
	const decomposed = 'cafe\u0301';

	it('is the same key, however its characters are encoded', async () => {
		const run = await execute(items([composed, 'a boat'], [decomposed, 'a boat']));
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toHaveLength(1);
		const later = await execute(items([decomposed, 'a boat']));
		expect(later.output('Step')[0].json.id).toBe(run.output('Step')[0].json.id);
		expect(rows().map(({ key }) => key)).toEqual([composed]);
	});
});

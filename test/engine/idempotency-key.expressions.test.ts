import { items, keyed, openKeyedStage } from './keyed';

const { stage, rows, execute } = openKeyedStage();
const boats = items(['a', 'a boat'], ['b', 'a ship']);
const withKey = async (idempotencyKey: string) =>
	await execute(boats, { ...keyed, options: { idempotencyKey } });

/** All items would share such a key, and with it one generation. */
describe('an idempotency key whose expression has no value', () => {
	it.each([
		"={{ 'order-' + $json.mistyped }}",
		'={{ `order_${$json.mistyped}` }}',
		'={{ `${$json.mistyped}-2026` }}',
		"={{ 'order-' + Number($json.key) }}",
		"={{ 'order-' + new Date('no date') }}",
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

	it('is an error, also if the value of another part contains such a word', async () => {
		const named = items(['null-pointer-mug', 'a boat'], ['b', 'a ship']);
		for (const key of [
			'={{ $json.key }}-{{ $json.mistyped }}',
			"={{ $json.key + '-' + $json.mistyped }}",
			'={{ `${$json.key}-${$json.mistyped}` }}',
		]) {
			const run = await execute(named, { ...keyed, options: { idempotencyKey: key } });
			expect([key, run.error?.message]).toEqual([
				key,
				expect.stringMatching(/A part of .*Idempotency Key has no value/),
			]);
		}
		expect(stage.arrived).toBe(0);
	});

	it('may be written by the user as fixed text', async () => {
		expect(
			(await execute(items(['a', 'a boat']), { ...keyed, options: { idempotencyKey: 'null' } }))
				.status,
		).toBe('success');
	});

	it.each([
		'={{ $json.slug }}',
		'={{ $json["slug"] }}',
		'={{ $json.product?.slug.trim() }}',
		'={{ $input.item.json.slug.toLowerCase() }}',
		"={{ $('Start').item.json.slug }}",
		'=order-{{ $json.slug }}',
		'={{ $json.slug }}-{{ $json.slug }}',
		"={{ [$json.slug, $itemIndex].join('-') }}",
		'={{ `${$json.slug}/${$itemIndex}` }}',
		'=null-{{ $json.id }}',
	])('may come from data that contains such a word: %s', async (idempotencyKey) => {
		const slugs = ['null-pointer-mug', 'undefined behavior', 'NULL', 'NaN bread'];
		const list = slugs.map((slug, id) => ({ slug, id, product: { slug }, prompt: 'a boat' }));
		const run = await execute(list, { ...keyed, options: { idempotencyKey } });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toHaveLength(4);
	});

	it.each(['q83vEjRWeJQNaN+/AAECAwQFBgc=', 'kB+NaN/x3WmQ0aZbTnYcPdEeFfGgHhIi'])(
		'may contain the word NaN by chance, in base64: %s',
		async (digest) => {
			const run = await withKey(
				`={{ '${digest.slice(0, 9)}' + '${digest.slice(9)}-' + $json.key }}`,
			);
			expect(run.error).toBeUndefined();
			expect(stage.bodies).toHaveLength(2);
		},
	);

	it.each([
		"={{ 'a-long-fixed-name-of-an-order-' + Number($json.key) + '-2026' }}",
		"={{ $json.mistyped + '-q83vEjRWeJqAAECAwQFBgc' }}",
	])('is an error if a long one has a part without a value: %s', async (key) => {
		const { error } = await withKey(key);
		expect(error?.message).toMatch(/A part of .*Idempotency Key has no value/);
	});

	it.each([
		'={{ $json.key + $json.mistyped }}',
		'={{ ($json.key + "-" + $json.mistyped).toUpperCase() }}',
		'={{ `sku${$json.mistyped}` }}',
		'={{ String($json.mistyped).toUpperCase() }}',
		'={{ $("Start").item.json.key + $("Start").item.json.mistyped }}',
		'={{ "https://shop.example/?a=1&sku=" + $json.mistyped }}',
		'={{ `${$json.key}&${$json.mistyped}` }}',
		'={{ `${$json.key} && what if ${$json.mistyped}` }}',
	])('is an error where JavaScript makes a word of it: %s', async (key) => {
		const { error } = await withKey(key);
		expect(error?.message).toMatch(/^A part of Idempotency Key has no value/);
		expect(stage.arrived).toBe(0);
	});

	it.each([
		'={{ $json.key + ($json.size ?? "-one-size") }}',
		'={{ $json.key + ($json.size || "-one-size") }}',
		'={{ $json.key + ($json.size ? "-" + $json.size : "") }}',
		'={{ [$json.key, $json.size].filter(Boolean).join("-") }}',
		'={{ [$json.key, $json.size].filter((part) => part).join("-") }}',
		'={{ [$json.key, $json.size].compact().join("-") }}',
		'={{ $json.size.isEmpty() ? $json.key : $json.key + $json.size }}',
		'={{ $if($json.size, $json.key + $json.size, $json.key) }}',
		'={{ $json.key + $ifEmpty($json.size, "-one-size") }}',
		'={{ (() => { if ($json.size) return $json.size; return $json.key; })() }}',
	])('may deal with a value that is missing: %s', async (key) => {
		expect((await withKey(key)).error).toBeUndefined();
		expect(stage.bodies).toHaveLength(2);
	});

	it.each([
		'={{ $json.key + $json.price }}',
		'={{ ($json.key + "-" + $json.price).hash() }}',
		'={{ [$json.key, $json.price].join("-") }}',
		'={{ $("Start").item.json.key + "-" + $itemIndex }}',
		'={{ $("Start").all()[$itemIndex].json.key + "-all" }}',
		'={{ $node["Start"].json.key + "-node" }}',
		'={{ $input.first().json.key + "-" + $json.key }}',
		'={{ $input.item.json.key + $input.all().length }}',
		'={{ $execution.id + "-" + $json.key }}',
		'={{ $workflow.id + $prevNode.name + $runIndex + $json.key }}',
		'={{ $now.toFormat("yyyy-MM") + $json.key }}',
		'={{ $now.minus({ days: 1 }).weekNumber + $today.year + $json.key }}',
		'={{ DateTime.fromISO($json.day).toISODate() + $json.key }}',
		'={{ $json.day.toDateTime().toFormat("yyyy") + "-" + $json.key }}',
		'={{ $json.key.trim().toLowerCase().replace(/ +/g, "-") + "-x" }}',
		'={{ $json.key.length + $json.key }}',
		'={{ $json.tags.first() + $json.tags.last() + $json.tags.length + $json.key }}',
		'={{ $json.tags.join("-") + $json.tags[0] + $json.key }}',
		'={{ $jmespath($json, "product.sizes[0].name") + $json.key }}',
		'={{ Object.keys($json).join("-") + Object.values($json).length + $json.key }}',
		'={{ $json["product"]["sizes"][0].name + $json.key }}',
		'={{ $json.product.sizes[$json.first]["name"] + $json.key }}',
		'={{ $json[$json.field] + "-" + $json.key }}',
		'={{ JSON.stringify($json.product).hash() + $json.key }}',
		'={{ $max($json.price, 3) + $json.key }}',
		'={{ "$5 or $price in US$.now-" + $json.key }}',
		'={{ `$5 ${$json.key}` }}',
		'={{ $json.none + "-" + $json.key + $json.zero + $json.off }}',
		'={{ $json.key + "-" + ($json.variant ?? "null") }}',
		'={{ ["undefined-behaviour", $json.key].join("-") }}',
		'={{ $json.cost$ + "-" + $json.key }}',
		'={{ $("Start").all()[$itemIndex].json.title + $json.key }}',
	])('is accepted if all of its parts have a value: %s', async (key) => {
		const product = { sizes: [{ name: 'small' }] };
		const list = boats.map((boat, zero) => ({
			...boat,
			product,
			price: 7,
			cost$: 7,
			title: 'Nan bread with undefined behaviour',
			day: '2026-11-27',
			tags: ['a', 'b'],
			first: 0,
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

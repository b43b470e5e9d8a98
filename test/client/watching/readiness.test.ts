import { readGeneration, type Generation } from '../../../client/wire/generation';
import { readinessObserver } from '../../../client/watching/readiness';
import { GenerationService } from '../../../client/wire/service';
import { wireGeneration } from '../../support/answers';
import { FakeService } from '../../support/fake-service';
import { VirtualTime } from '../../support/virtual-time';

const url = 'https://storage.example.com/outputs/generation-1.png';

function read(fields: Parameters<typeof wireGeneration>[0], now: number): Generation {
	const generation = readGeneration(wireGeneration(fields), now);
	if (generation === null) throw new Error('Not read');
	return generation;
}

/** An observer over a service with one running generation, and a storage that answers with `status`. */
function watching(status: number | Error, elapsedMs = 0) {
	const time = new VirtualTime();
	const fake = new FakeService(time);
	const service = new GenerationService({
		send: fake.send,
		clock: time,
		random: () => 0,
		signal: new AbortController().signal,
	});
	const probed: string[] = [];
	const observe = readinessObserver(
		service,
		async (asked) => {
			probed.push(asked);
			if (status instanceof Error) throw status;
			return { status, oneByte: true };
		},
		time,
	);
	const pending = read({ url }, time.now());
	const look = async (looks: number, generation = pending) => {
		await service.create({ type: 'image', body: { prompt: 'A cat' } });
		await time.sleep(elapsedMs);
		fake.seen.length = 0;
		return await observe(generation, looks);
	};
	return {
		probed,
		fake,
		pending,
		look: async (...args: Parameters<typeof look>) => await time.run(look(...args)),
	};
}

describe('asking the output URL for its first byte', () => {
	it.each([200, 206])('tells that a generation is completed: %i', async (status) => {
		const { probed, fake, pending, look } = watching(status);
		expect(await look(1)).toEqual({
			...pending,
			item: { ...pending.item, status: 'completed' },
		});
		expect(probed).toEqual([url]);
		expect(fake.seen).toEqual([]);
	});

	it.each([403, 404, 301, 500, 102])('tells that it is not there yet: %i', async (status) => {
		const { pending, look } = watching(status);
		expect(await look(1)).toBe(pending);
	});

	it('leaves a generation as it was where the storage cannot be reached', async () => {
		const { pending, look } = watching(new Error('socket hang up'));
		expect(await look(3)).toBe(pending);
	});

	it('gives way to the status every fifth time, since a failed one never writes its output', async () => {
		const { probed, fake, look } = watching(403);
		for (let looks = 1; looks <= 10; looks++) {
			await look(looks);
			expect(fake.seen).toHaveLength(looks % 5 === 0 ? 1 : 0);
		}
		expect(probed).toHaveLength(8);
	});

	it('gives way to the status where there is no URL', async () => {
		const { probed, fake, pending, look } = watching(200);
		await look(1, { ...pending, item: { ...pending.item, url: null } });
		expect(probed).toEqual([]);
		expect(fake.looksAt('generation-1')).toHaveLength(1);
	});

	it('gives way to the status where the URL has expired, which gives a fresh one', async () => {
		const { probed, fake, look } = watching(200, 3_600_000);
		expect((await look(1)).item.status).toBe('completed');
		expect(probed).toEqual([]);
		expect(fake.looksAt('generation-1')).toHaveLength(1);
	});

	it('goes on where nobody knows when the URL expires', async () => {
		const { probed, pending, look } = watching(200, 7_200_000);
		await look(1, { ...pending, item: { ...pending.item, url_expires_at: null } });
		expect(probed).toEqual([url]);
	});

	it('gives way to the status for one that has ended', async () => {
		const { probed, pending, look } = watching(200);
		await look(1, { ...pending, item: { ...pending.item, status: 'failed' } });
		expect(probed).toEqual([]);
	});
});

import { VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

const png = 'data:image/png;base64,iVBORw0KGgo=';

function outcome(reply: { status: number; body: unknown }): unknown {
	if (reply.status === 200) return 200;
	const { error } = reply.body as ErrorBody;
	return [reply.status, error.code, error.param];
}

describe('an image request (spec 4.1)', () => {
	it.each<[Record<string, unknown>, unknown]>([
		[{ model: undefined }, [400, 'invalid_request', 'model']],
		[{ prompt: undefined }, [400, 'invalid_request', 'prompt']],
		[{ prompt: '  ' }, [400, 'invalid_request', 'prompt']],
		[{ prompt: 5 }, [400, 'invalid_request', 'prompt']],
		[{ parameters: [] }, [400, 'invalid_request', 'parameters']],
		[{ model: 'lumen-loop' }, [400, 'invalid_parameter', 'model']],
		[{ size: '1024' }, [400, 'invalid_parameter', 'size']],
		[{ size: '2049x64' }, [400, 'invalid_parameter', 'size']],
		[{ size: 1024 }, [400, 'invalid_parameter', 'size']],
		[{ size: '2048x777' }, 200],
		[{ model: 'kestrel-retouch', size: '1024x1024' }, [422, 'unsupported_parameter', 'size']],
		[{ model: 'kestrel-retouch' }, 200],
		[{ model: 'inkwell-draw-3', size: '1000x1000' }, [400, 'invalid_parameter', 'size']],
		[
			{ parameters: { aspect_ratio: '16/9' } },
			[400, 'invalid_parameter', 'parameters.aspect_ratio'],
		],
		[{ parameters: { aspect_ratio: '16:9' }, size: 'anything' }, 200],
		[{ parameters: { seed: 1.5 } }, [400, 'invalid_parameter', 'parameters.seed']],
		[{ model: 'inkwell-draw-3', parameters: { seed: 1 } }, 200],
		[{ model: 'lumen-turbo', parameters: { negative_prompt: 'rain' } }, 200],
		[{ edit_mode: 'inpaint' }, 200],
		[{ model: 'lumen-turbo', edit_mode: 'inpaint' }, [422, 'unsupported_parameter', 'edit_mode']],
		[{ inputs: [{ type: 'image', source: 'data', value: png }] }, 200],
		[{ inputs: [{ type: 'image', source: 'url', value: 'https://a.invalid/b.png' }] }, 200],
		[
			{ inputs: [{ type: 'image', source: 'url', value: 'http://a.invalid/b.png' }] },
			[400, 'invalid_parameter', 'inputs[0].value'],
		],
		[
			{ inputs: [{ type: 'image', source: 'data', value: 'iVBORw0KGgo=' }] },
			[400, 'invalid_parameter', 'inputs[0].value'],
		],
		[
			{ inputs: [{ type: 'image', source: 'data', value: 'data:image/png;base64,' }] },
			[400, 'invalid_parameter', 'inputs[0].value'],
		],
		[
			{ inputs: [{ type: 'text', source: 'data', value: png }] },
			[400, 'invalid_parameter', 'inputs[0].type'],
		],
		[
			{ inputs: [{ type: 'image', source: 'file', value: png }] },
			[400, 'invalid_parameter', 'inputs[0].source'],
		],
		[{ input_images: ['https://a.invalid/b.png'] }, 200],
		[{ input_images: ['b.png'] }, [400, 'invalid_parameter', 'input_images[0]']],
		[{ input_images: ['http://a.invalid/b.png'] }, [400, 'invalid_parameter', 'input_images[0]']],
		[{ input_images: ['http://127.0.0.1:8788/b.png'] }, 200],
		[{ inputs: [{ type: 'image', source: 'url', value: 'http://localhost:8788/b.png' }] }, 200],
		[
			{ input_images: Array<string>(5).fill('https://a.invalid/b.png') },
			[400, 'invalid_parameter', 'input_images'],
		],
		[
			{ model: 'lumen-turbo', input_images: ['https://a.invalid/b.png'] },
			[422, 'unsupported_parameter', 'input_images'],
		],
		[{ webhook_url: 'https://a.invalid/hook', n: 1, response_format: 'url' }, 200],
		[{ inputs: null, input_images: null, edit_mode: null, size: null }, 200],
	])('%j', (fields, expected) => {
		expect(outcome(new VirtualSandbox().image(fields))).toEqual(expected);
	});

	it.each(['type', 'source', 'value'])('names a missing field of an input: %s', (field) => {
		const input = { type: 'image', source: 'data', value: png };
		for (const value of [undefined, null, '', ' ', 5]) {
			const reply = new VirtualSandbox().image({ inputs: [input, { ...input, [field]: value }] });
			expect(outcome(reply)).toEqual([400, 'invalid_request', `inputs[1].${field}`]);
			expect((reply.body as ErrorBody).error.message).toContain(`inputs[1].${field}`);
		}
	});

	it.each([
		'https://a.invalid',
		'https://[::1]/b',
		'https://a.invalid:8443/b?c=d#e',
		'HTTPS://a.invalid/ü',
	])('accepts the URL %s', (value) => {
		const inputs = [{ type: 'image', source: 'url', value }];
		expect(outcome(new VirtualSandbox().image({ inputs }))).toBe(200);
	});

	it.each([
		'https:example.com/b.png',
		'https:/example.com/b.png',
		'https:///example.com/b.png',
		'https://',
		'https://?b',
		' https://a.invalid/b.png',
		'https://a.invalid/b.png\n',
		'https://a.invalid/b c.png',
		'https:\\\\a.invalid\\b.png',
		'https://a.invalid\\b.png',
		'ht\ntps://a.invalid/b.png',
		'https://a.invalid/\u0000',
		'http:127.0.0.1:8788/b.png',
	])('does not accept what is no URL, although browsers would: %j', (value) => {
		const sandbox = new VirtualSandbox();
		const inputs = [{ type: 'image', source: 'url', value }];
		expect(outcome(sandbox.image({ inputs }))).toEqual([
			400,
			'invalid_parameter',
			'inputs[0].value',
		]);
		expect(outcome(sandbox.image({ input_images: [value] }))).toEqual([
			400,
			'invalid_parameter',
			'input_images[0]',
		]);
		expect(outcome(sandbox.video({ image_url: value }))).toEqual([
			400,
			'invalid_parameter',
			'image_url',
		]);
		expect(sandbox.service.books.totals.created).toBe(0);
	});

	it.each(['QQ==', 'QUI=', 'QUJD', 'QUJDRA==', 'QUJDRA'])(
		'accepts the inline data %s',
		(base64) => {
			const inputs = [{ type: 'image', source: 'data', value: `data:image/png;base64,${base64}` }];
			expect(outcome(new VirtualSandbox().image({ inputs }))).toBe(200);
		},
	);

	it.each([
		'=',
		'==',
		'A',
		'A=',
		'A==',
		'QQ=',
		'QUI==',
		'QUJD=',
		'QUJD==',
		'QUJDR',
		'QU=I',
		'Q Q==',
		'QQ==\n',
	])('does not accept inline data that cannot be decoded: %j', (base64) => {
		const inputs = [{ type: 'image', source: 'data', value: `data:image/png;base64,${base64}` }];
		expect(outcome(new VirtualSandbox().image({ inputs }))).toEqual([
			400,
			'invalid_parameter',
			'inputs[0].value',
		]);
	});

	it('accepts an inline input of 4.5 MB', () => {
		const value = `data:image/png;base64,${'A'.repeat(6_000_000)}`;
		const reply = new VirtualSandbox().image({
			inputs: [{ type: 'image', source: 'data', value }],
		});
		expect(reply.status).toBe(200);
	});
});

describe('a video request (spec 4.2)', () => {
	it.each<[Record<string, unknown>, unknown]>([
		[{}, 200],
		[{ model: 'aurora-image-1' }, [400, 'invalid_parameter', 'model']],
		[{ resolution: '360p' }, [400, 'invalid_parameter', 'resolution']],
		[{ model: 'lumen-loop' }, 200],
		[{ model: 'inkwell-animate', resolution: '1080p' }, [400, 'invalid_parameter', 'resolution']],
		[{ duration: 8 }, 200],
		[{ duration: 8.1 }, [400, 'invalid_parameter', 'duration']],
		[{ duration: 0 }, [400, 'invalid_parameter', 'duration']],
		[{ duration: '4' }, [400, 'invalid_parameter', 'duration']],
		[{ model: 'tidal-wide', resolution: '720p' }, [422, 'unsupported_parameter', 'resolution']],
		[{ model: 'tidal-wide' }, 200],
		[{ model: 'tidal-still-to-video', fps: 24 }, [422, 'unsupported_parameter', 'fps']],
		[{ model: 'tidal-still-to-video' }, 200],
		[{ fps: 25 }, [400, 'invalid_parameter', 'fps']],
		[{ model: 'pinhole-cinema-2', fps: 12 }, 200],
		[{ fps: 24.5 }, [400, 'invalid_parameter', 'fps']],
		[{ model: 'lumen-loop', seed: 3 }, [422, 'unsupported_parameter', 'seed']],
		[
			{ model: 'lumen-loop', negative_prompt: 'x' },
			[422, 'unsupported_parameter', 'negative_prompt'],
		],
		[{ model: 'lumen-loop', negative_prompt: '' }, 200],
		[
			{ model: 'lumen-loop', image_url: 'https://a.invalid/b.png' },
			[422, 'unsupported_parameter', 'image_url'],
		],
		[{ image_url: 'https://a.invalid/b.png', input_images: ['https://a.invalid/c.png'] }, 200],
		[{ image_url: 'http://a.invalid/b.png', input_images: ['http://a.invalid/c.png'] }, 200],
		[{ image_url: 'nowhere' }, [400, 'invalid_parameter', 'image_url']],
		[{ image_url: png }, [400, 'invalid_parameter', 'image_url']],
		[{ input_images: [png] }, [400, 'invalid_parameter', 'input_images[0]']],
		[
			{ model: 'kestrel-flight-3-fast', input_images: ['https://a.invalid/c.png'] },
			[422, 'unsupported_parameter', 'input_images'],
		],
		[{ image_url: null, negative_prompt: null, seed: null, input_images: null }, 200],
	])('%j', (fields, expected) => {
		expect(outcome(new VirtualSandbox().video(fields))).toEqual(expected);
	});

	it('is priced by duration and resolution', () => {
		const sandbox = new VirtualSandbox();
		sandbox.video();
		sandbox.video({ resolution: '480p', duration: 3.3 });
		sandbox.video({ resolution: '1080p', duration: 8 });
		expect(sandbox.service.books.generations.map(({ charged }) => charged)).toEqual([40, 17, 160]);
	});
});

import { VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

const png = 'data:image/png;base64,iVBORw0KGgo=';

/** 200, or the status, the code and the parameter of an error. */
function outcome(reply: { status: number; body: unknown }): unknown {
	if (reply.status === 200) return 200;
	const { error } = reply.body as ErrorBody;
	return `${reply.status} ${error.code} ${error.param}`;
}

const image = (fields: Record<string, unknown>) => outcome(new VirtualSandbox().image(fields));
const video = (fields: Record<string, unknown>) => outcome(new VirtualSandbox().video(fields));
const inputs = (input: object) => ({
	inputs: [{ type: 'image', source: 'data', value: png, ...input }],
});
const url = (value: string) => inputs({ source: 'url', value });

describe('an image request (spec 4.1)', () => {
	it.each<[Record<string, unknown>, unknown]>([
		[{ model: undefined }, '400 invalid_request model'],
		[{ prompt: undefined }, '400 invalid_request prompt'],
		[{ prompt: '  ' }, '400 invalid_request prompt'],
		[{ prompt: 5 }, '400 invalid_request prompt'],
		[{ parameters: [] }, '400 invalid_request parameters'],
		[{ model: 'lumen-loop' }, '400 invalid_parameter model'],
		[{ size: '1024' }, '400 invalid_parameter size'],
		[{ size: '2049x64' }, '400 invalid_parameter size'],
		[{ size: 1024 }, '400 invalid_parameter size'],
		[{ size: '2048x777' }, 200],
		[{ model: 'kestrel-retouch', size: '1024x1024' }, '422 unsupported_parameter size'],
		[{ model: 'kestrel-retouch' }, 200],
		[{ model: 'inkwell-draw-3', size: '1000x1000' }, '400 invalid_parameter size'],
		[{ parameters: { aspect_ratio: '16/9' } }, '400 invalid_parameter parameters.aspect_ratio'],
		[{ parameters: { aspect_ratio: '16:9' }, size: 'anything' }, 200],
		[{ parameters: { seed: 1.5 } }, '400 invalid_parameter parameters.seed'],
		[{ model: 'inkwell-draw-3', parameters: { seed: 1 } }, 200],
		[{ model: 'lumen-turbo', parameters: { negative_prompt: 'rain' } }, 200],
		[{ edit_mode: 'inpaint' }, 200],
		[{ model: 'lumen-turbo', edit_mode: 'inpaint' }, '422 unsupported_parameter edit_mode'],
		[inputs({}), 200],
		[url('https://a.invalid/b.png'), 200],
		[url('http://a.invalid/b.png'), '400 invalid_parameter inputs[0].value'],
		[inputs({ value: 'iVBORw0KGgo=' }), '400 invalid_parameter inputs[0].value'],
		[inputs({ value: 'data:image/png;base64,' }), '400 invalid_parameter inputs[0].value'],
		[inputs({ type: 'text' }), '400 invalid_parameter inputs[0].type'],
		[inputs({ source: 'file' }), '400 invalid_parameter inputs[0].source'],
		[{ input_images: ['https://a.invalid/b.png'] }, 200],
		[{ input_images: ['b.png'] }, '400 invalid_parameter input_images[0]'],
		[{ input_images: ['http://a.invalid/b.png'] }, '400 invalid_parameter input_images[0]'],
		[{ input_images: ['http://127.0.0.1:8788/b.png'] }, 200],
		[url('http://localhost:8788/b.png'), 200],
		[
			{ input_images: Array<string>(5).fill('https://a.invalid/b.png') },
			'400 invalid_parameter input_images',
		],
		[
			{ model: 'lumen-turbo', input_images: ['https://a.invalid/b.png'] },
			'422 unsupported_parameter input_images',
		],
		[{ webhook_url: 'https://a.invalid/hook', n: 1, response_format: 'url' }, 200],
		[{ inputs: null, input_images: null, edit_mode: null, size: null }, 200],
	])('%j', (fields, expected) => {
		expect(image(fields)).toBe(expected);
	});

	it.each(['type', 'source', 'value'])('names a missing field of an input: %s', (field) => {
		for (const value of [undefined, null, '', 5]) {
			expect(image(inputs({ [field]: value }))).toBe(`400 invalid_request inputs[0].${field}`);
		}
	});

	it.each(['https://a.invalid', 'https://[::1]:8443/b?c=d#e', 'HTTPS://a.invalid/ü'])(
		'accepts the URL %s',
		(value) => expect(image(url(value))).toBe(200),
	);

	it.each([
		...['https:example.com/b.png', 'https:///example.com/b.png', 'https://', 'https://?b'],
		...[' https://a.invalid/b.png', 'https://a.invalid/b c.png', 'https:\\\\a.invalid\\b.png'],
		...['ht\ntps://a.invalid/b.png', 'https://a.invalid/\u0000', 'http:127.0.0.1:8788/b.png'],
	])('does not accept what is no URL, although browsers would: %j', (value) => {
		expect(image(url(value))).toBe('400 invalid_parameter inputs[0].value');
		expect(image({ input_images: [value] })).toBe('400 invalid_parameter input_images[0]');
		expect(video({ image_url: value })).toBe('400 invalid_parameter image_url');
	});

	it.each([
		...['QQ==', 'QUI=', 'QUJD', 'QUJDRA'].map((base64) => [base64, true] as const),
		...['=', 'A', 'A==', 'QQ=', 'QUI==', 'QUJD=', 'QUJDR', 'QU=I', 'Q Q==', 'QQ==\n'].map(
			(base64) => [base64, false] as const,
		),
	])('inline data %j can be decoded: %s', (base64, valid) => {
		expect(image(inputs({ value: `data:image/png;base64,${base64}` }))).toBe(
			valid ? 200 : '400 invalid_parameter inputs[0].value',
		);
	});

	it('accepts an inline input of 4.5 MB', () => {
		expect(image(inputs({ value: `data:image/png;base64,${'A'.repeat(6_000_000)}` }))).toBe(200);
	});
});

describe('a video request (spec 4.2)', () => {
	it.each<[Record<string, unknown>, unknown]>([
		[{}, 200],
		[{ model: 'aurora-image-1' }, '400 invalid_parameter model'],
		[{ resolution: '360p' }, '400 invalid_parameter resolution'],
		[{ model: 'lumen-loop' }, 200],
		[{ model: 'inkwell-animate', resolution: '1080p' }, '400 invalid_parameter resolution'],
		[{ duration: 8 }, 200],
		[{ duration: 8.1 }, '400 invalid_parameter duration'],
		[{ duration: 0 }, '400 invalid_parameter duration'],
		[{ duration: '4' }, '400 invalid_parameter duration'],
		[{ model: 'tidal-wide', resolution: '720p' }, '422 unsupported_parameter resolution'],
		[{ model: 'tidal-wide' }, 200],
		[{ model: 'tidal-still-to-video', fps: 24 }, '422 unsupported_parameter fps'],
		[{ model: 'tidal-still-to-video' }, 200],
		[{ fps: 25 }, '400 invalid_parameter fps'],
		[{ model: 'pinhole-cinema-2', fps: 12 }, 200],
		[{ fps: 24.5 }, '400 invalid_parameter fps'],
		[{ model: 'lumen-loop', seed: 3 }, '422 unsupported_parameter seed'],
		[{ model: 'lumen-loop', negative_prompt: 'x' }, '422 unsupported_parameter negative_prompt'],
		[{ model: 'lumen-loop', negative_prompt: '' }, 200],
		[
			{ model: 'lumen-loop', image_url: 'https://a.invalid/b.png' },
			'422 unsupported_parameter image_url',
		],
		[{ image_url: 'https://a.invalid/b.png', input_images: ['https://a.invalid/c.png'] }, 200],
		[{ image_url: 'http://a.invalid/b.png', input_images: ['http://a.invalid/c.png'] }, 200],
		[{ image_url: 'nowhere' }, '400 invalid_parameter image_url'],
		[{ image_url: png }, '400 invalid_parameter image_url'],
		[{ input_images: [png] }, '400 invalid_parameter input_images[0]'],
		[
			{ model: 'kestrel-flight-3-fast', input_images: ['https://a.invalid/c.png'] },
			'422 unsupported_parameter input_images',
		],
		[{ image_url: null, negative_prompt: null, seed: null, input_images: null }, 200],
	])('%j', (fields, expected) => {
		expect(video(fields)).toBe(expected);
	});

	it('is priced by duration and resolution', () => {
		const sandbox = new VirtualSandbox();
		sandbox.video();
		sandbox.video({ resolution: '480p', duration: 3.3 });
		sandbox.video({ resolution: '1080p', duration: 8 });
		expect(sandbox.service.books.generations.map(({ charged }) => charged)).toEqual([40, 17, 160]);
	});
});

import type { INodeParameters } from 'n8n-workflow';

import { capable, option, VALUE, type Check } from './input-cases';

const reference = (fields: INodeParameters): INodeParameters => ({
	...capable,
	referenceInputs: { input: [fields] },
});

/** A data URI of this many bytes. */
const pictureOf = (bytes: number) =>
	`data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`;
const inLines = (uri: string) => uri.replace(',', ',\n').replace(/.{76}/g, '$&\n');
/** 4.5 MB (spec 8). */
const limit = 4.5 * 1024 * 1024;

const aPicture = 'data:image/png;base64,iVBORw0KGgo=';
const aUrl = 'https://example.com/a.png';
const bUrl = 'https://example.com/b.png';
/** Image services have commas in their URLs. */
const withCommas = [
	'https://img.example.com/w_200,h_100,c_fill/a.png',
	'https://img.example.com/fetch/f_auto,q_80/https://example.com/a.png',
];

const [image, video] = ['imageGeneration', 'videoGeneration'];

/** The checks of URLs and references. */
export const urlChecks: Check[] = [
	{
		field: 'Input Image URL',
		node: video,
		parameters: { imageUrl: VALUE },
		wire: 'image_url',
		good: ['', aUrl, [aUrl], ' http://example.com/a.png ', 'HTTP://10.0.0.1:8080/a.png'],
		as: [undefined, aUrl, aUrl, 'http://example.com/a.png', 'HTTP://10.0.0.1:8080/a.png'],
		bad: {
			'Input Image URL must be an https:// or http:// URL, not "': [
				...['a.png', 'example.com/a.png', 'http:/example.com/a.png', 'ftp://example.com/a.png'],
				...[aPicture, `${aUrl}\n${bUrl}`],
			],
		},
	},
	{
		field: 'Input Image URLs of imageGeneration',
		node: image,
		parameters: { ...capable, ...option('inputImages') },
		wire: 'input_images',
		good: [
			...[`${aUrl}, ${bUrl}`, `${aUrl}\n${bUrl}\n`, `,${aUrl},,${bUrl},`, `${aUrl},\r\n${bUrl}`],
			...[[aUrl, bUrl].join(), [aUrl, bUrl], ['', aUrl, bUrl, ' ', null]],
			...[withCommas[0], `${withCommas[1]},${aUrl}, ${withCommas[0]}\n`],
		],
		as: [
			...Array<string[]>(7).fill([aUrl, bUrl]),
			...[[withCommas[0]], [withCommas[1], aUrl, withCommas[0]]],
		],
		bad: {
			'Input Image URLs: URL 2 must be an https:// URL, not "b.png"': [[aUrl, 'b.png']],
			'Input Image URLs: URL 2 must be an https:// URL': [`${aUrl}, http://example.com/b.png`],
		},
	},
	{
		field: 'Input Image URLs of videoGeneration',
		node: video,
		parameters: option('inputImages'),
		wire: 'input_images',
		good: [aUrl, 'http://example.com/a.png'],
		as: [[aUrl], ['http://example.com/a.png']],
		bad: { 'Input Image URLs: URL 1': ['ftp://example.com/b.png'] },
	},
	{
		field: 'URL of a reference',
		node: image,
		parameters: reference({ source: 'url', url: VALUE }),
		wire: 'inputs.0.value',
		good: [
			...[aUrl, ` ${aUrl} `, [aUrl], 'HTTPS://example.com/a.png?x=1&y=%20#z', ...withCommas],
			...['http://localhost:8080/a.png', 'http://127.0.0.1/a.png', 'http://[::1]:5678/a.png'],
		],
		as: [
			...[aUrl, aUrl, aUrl, 'HTTPS://example.com/a.png?x=1&y=%20#z', ...withCommas],
			...['http://localhost:8080/a.png', 'http://127.0.0.1/a.png', 'http://[::1]:5678/a.png'],
		],
		bad: {
			'Reference File 1: URL is empty': ['', null],
			'Reference File 1: URL must be an https:// URL': [
				...[
					'picture',
					'ht\ntps://example.com',
					'example.com/a.png',
					'http://example.com/a.png',
					'http://10.0.0.1/a.png',
				],
				...['http://127.0.0.1.example.com/a.png', 'http://localhost.example.com/a.png'],
				...['http://notlocalhost/a.png', 'https://', 'https://exa mple.com/a.png'],
				...['https://example.com:99999/a.png', 'https:example.com/a.png', 'https:/example.com'],
				...['ftp://example.com/a.png', 'file:///a.png', 42],
				...['javascript:alert(1)', `http://example.com/${'a'.repeat(5000)}`],
			],
		},
	},
	{
		field: 'Data URI of a reference',
		node: image,
		parameters: reference({ source: 'url', url: VALUE }),
		wire: 'inputs.0.value',
		good: [
			...[aPicture, `  ${aPicture}  `, inLines(aPicture), 'data:audio/wav;base64,UklGRg=='],
			...[pictureOf(limit - 1), inLines(pictureOf(limit))],
		],
		as: [
			...[aPicture, aPicture, aPicture, 'data:audio/wav;base64,UklGRg=='],
			...[pictureOf(limit - 1), pictureOf(limit)],
		],
		bad: {
			'Reference File 1: URL must be a data URI such as': [
				...['data:,hello', 'data:image/png,iVBORw0KGgo=', 'data:image/png;base64,', 'DATA:x'],
				'data:image;base64,iVBO',
			],
			'Reference File 1: URL is too large: 4.6 MB': [
				...[pictureOf(limit + 1), pictureOf(limit + 2)],
			],
			'Reference File 1: the kind of file could not be detected from its MIME type text': [
				'data:text/html;base64,PGI+',
			],
		},
	},
	{
		field: 'Type of a reference',
		node: image,
		parameters: reference({ source: 'url', url: aUrl, type: VALUE }),
		wire: 'inputs.0.type',
		good: ['', 'image', 'video', 'audio'],
		as: ['image', 'image', 'video', 'audio'],
		bad: {
			'Reference File 1: Type must be one of audio, image, video, not "text"': ['text'],
		},
	},
];

import fc from 'fast-check';

import {
	InvalidInputError,
	aspectRatio,
	duration,
	FRAME_RATES,
	generationId,
	INPUT_TYPES,
	integer,
	number,
	oneOf,
	positive,
	requiredText,
	requireEvaluated,
	RESOLUTIONS,
	size,
	toPlainValue,
	undefinedExpression,
} from '../../../nodes/shared/form/checks';
import { GenerationError } from '../../../client/api/errors';
import { accepted, anything, expectRefused } from '../../support/checks';

describe('text in a field', () => {
	it.each([
		'{{ $json.prompt }}',
		'A boat at {{ $json.place }}',
		'{{ $("Form").item.json.a }}',
		'{{$now}}',
		'{{ DateTime.now() }}',
		{ options: { seed: 1, idempotencyKey: 'a-{{ $itemIndex }}' } },
		{ input: [{ url: 'https://example.com/{{ $json.file }}' }] },
	])('is rejected if an expression was not evaluated: %j', (written) => {
		expect(() => requireEvaluated('Prompt', written)).toThrow(
			/^Prompt contains an expression that was not evaluated: \{\{/,
		);
	});

	it.each([
		'={{ $json.prompt }}',
		'{{masterpiece}}, a boat for $20, {soft light}',
		'\\textbf{{$(x+1)^2$}}',
		'{{ $items left }}',
		{ __rl: true, mode: 'id', value: '={{ $json.model }}' },
		null,
		undefined,
		7,
	])('is used unchanged: %j', (written) => {
		expect(() => requireEvaluated('Prompt', written)).not.toThrow();
	});

	it('is read fast for any input', () => {
		for (const text of [`{{${'$now '.repeat(1e5)}`, '{{'.repeat(1e6), '{'.repeat(1e6)]) {
			expect(() => requireEvaluated('Prompt', text)).not.toThrow();
		}
	});
});

describe('the result of an expression', () => {
	const date = new Date(0);

	it.each([
		['A cat', 'A cat'],
		[7, 7],
		[false, false],
		[null, null],
		[date, date.toISOString()],
		[
			['A cat', date],
			['A cat', date.toISOString()],
		],
	])('is used unchanged or converted to text: %j', (value, written) => {
		expect(toPlainValue('Prompt', value)).toEqual(written);
	});

	it.each([[undefined], [['A cat', undefined]]])('must not be undefined: %j', (value) => {
		expect(() => toPlainValue('Prompt', value)).toThrow(
			'The expression in Prompt is undefined for this item',
		);
	});

	it.each([[{}], [{ toJSON: () => ({}) }], [new Date(NaN)]])(
		'must not be an object: %j',
		(value) => {
			expect(() => toPlainValue('Prompt', value)).toThrow(
				'Prompt must be a single value, such as text, but the expression returned an object',
			);
		},
	);
});

describe('a text', () => {
	it.each([
		['  A cat\n', 'A cat'],
		[12, '12'],
		[0, '0'],
		[['a', 'b'], 'a,b'],
	])('is the value as text, without surrounding whitespace: %j', (value, written) => {
		expect(requiredText('Prompt', value)).toBe(written);
	});

	it.each([[''], [' \n\t '], [undefined], [null], [[]]])('is required: %j', (value) => {
		expectRefused(requiredText, value);
	});

	it.each([[{}], [{ text: 'A cat' }], [['A cat', { a: 1 }]], ['A [object Object]']])(
		'is no object: %j',
		(value) => {
			expectRefused(requiredText, value);
		},
	);

	it.each([true, false, NaN, Infinity])('rejects other results of an expression: %s', (value) => {
		expectRefused(requiredText, value);
	});
});

describe('a size', () => {
	it.each(['1024x1024', '1x1', ' 1280x720 '])('is accepted: %s', (text) => {
		expect(size('Size', text)).toBe(text.trim());
	});

	it.each(['1080 x 1350', '1080×1350', '1080X1350', ' 1080 × 1350 ', '1080\u00a0x\u00a01350'])(
		'may be written as people write it: %s',
		(text) => {
			expect(size('Size', text)).toBe('1080x1350');
		},
	);

	it.each([
		'',
		'1024',
		'1024x',
		'x1024',
		'0x10',
		'-1x5',
		'1.5x2',
		'1024x1024x3',
		'1024 1024',
		'1024xx1024',
		'1 024x1024',
		'01x1',
		'auto',
		null,
		1024,
	])('is rejected: %s', (value) => {
		expectRefused(size, value);
	});

	it('is always two whole numbers above 0 with an x between them', () => {
		fc.assert(
			fc.property(anything, (value) => {
				const text = accepted(() => size('Size', value));
				if (text !== undefined) expect(text).toMatch(/^[1-9][0-9]*x[1-9][0-9]*$/);
			}),
		);
	});
});

describe('an aspect ratio', () => {
	it.each(['16:9', '1:1', ' 9:16 '])('is accepted: %s', (text) => {
		expect(aspectRatio('Aspect Ratio', text)).toBe(text.trim());
	});

	it.each(['', '16', '16/9', '0:1', '16:9:1', '1.85:1', 'x:y', null])(
		'is rejected: %s',
		(value) => {
			expectRefused(aspectRatio, value);
		},
	);
});

describe('a whole number', () => {
	it.each([
		[0, 0],
		[-7, -7],
		['42', 42],
		[' 42 ', 42],
		[2 ** 53 - 1, 2 ** 53 - 1],
	])('is accepted: %j', (value, read) => {
		expect(integer('Seed', value)).toBe(read);
	});

	it.each([
		1.5,
		'1.5',
		'',
		' ',
		'seven',
		'7 cats',
		null,
		undefined,
		true,
		NaN,
		Infinity,
		2 ** 53,
		[],
	])('is rejected: %j', (value) => {
		expectRefused(integer, value);
	});
});

describe('a number', () => {
	it.each([
		[0, 0],
		[-1.5, -1.5],
		['2.5', 2.5],
	])('is accepted: %j', (value, read) => {
		expect(number('Number', value)).toBe(read);
	});

	it.each(['', 'many', null, undefined, true, NaN, Infinity, '1,5', {}])(
		'is refused: %j',
		(value) => {
			expectRefused(number, value);
		},
	);
});

describe('a positive number', () => {
	it('is above 0, or at least its minimum', () => {
		expect(positive('Timeout', '0.5')).toBe(0.5);
		expect(positive('Max Concurrent', 1, 1)).toBe(1);
	});

	it.each([0, -1, '0', '', NaN, Infinity, null, 'soon'])('is rejected: %j', (value) => {
		expectRefused(positive, value);
	});

	it('below its minimum is rejected, and the error names the minimum', () => {
		expect(() => positive('Max Concurrent', 0.5, 1)).toThrow('must be at least 1, not "0.5"');
		expect(() => positive('Timeout', 0)).toThrow('must be a number above 0, not "0"');
	});
});

describe('the duration of a video', () => {
	it.each([0.5, 4, '4', 10])('is accepted: %j', (value) => {
		expect(duration('Duration', value)).toBe(Number(value));
	});

	it.each([0, -4, 10.01, 11, '', 'long', NaN, null])('is rejected: %j', (value) => {
		expectRefused(duration, value);
	});

	it('is never longer than the maximum of all models', () => {
		fc.assert(
			fc.property(anything, (value) => {
				const seconds = accepted(() => duration('Duration', value)) ?? 1;
				expect(seconds > 0 && seconds <= 10).toBe(true);
			}),
		);
	});
});

describe('a choice', () => {
	it('is an allowed value, in the form that is sent', () => {
		expect(RESOLUTIONS.map((text) => oneOf('Resolution', text, RESOLUTIONS))).toEqual([
			'480p',
			'720p',
			'1080p',
		]);
		expect([12, '24', 30].map((rate) => oneOf('FPS', rate, FRAME_RATES))).toEqual([12, 24, 30]);
		expect(INPUT_TYPES).toEqual(['image', 'video', 'audio']);
	});

	it.each(['', '720', '4k', 25, null, undefined])('is rejected: %j', (value) => {
		expectRefused((field, given) => oneOf(field, given, [...RESOLUTIONS, ...FRAME_RATES]), value);
	});

	it('that is rejected lists the allowed values', () => {
		expect(() => oneOf('FPS', 25, FRAME_RATES)).toThrow('FPS must be one of 12, 24, 30, not "25"');
	});
});

describe('the id of a generation', () => {
	it.each(['7f9c24e8-3b1a', ' 7f9c24e8-3b1a ', 'a/b', '...', 'a.b'])('may be %j', (id) => {
		expect(generationId('Generation ID', id)).toBe(id.trim());
	});

	it.each(['.', '..', '', ' '])('may not be %j', (id) => {
		expect(() => generationId('Generation ID', id)).toThrow(InvalidInputError);
	});
});

describe('an undefined expression', () => {
	it('suggests an empty string only if the field may be empty', () => {
		expect(undefinedExpression('Seed').description).toContain("{{ $json.name ?? '' }}");
		expect(undefinedExpression('Prompt', true).description).toBe(
			'Check the names in the expression.',
		);
	});
});

describe('the error of invalid input', () => {
	it('is never retried and costs nothing', () => {
		const error = new InvalidInputError('Prompt is empty', 'Fill it in.');
		expect(error).toBeInstanceOf(GenerationError);
		expect(error).toMatchObject({
			name: 'InvalidInputError',
			code: 'invalid_input',
			charge: 'none',
			retry: 'never',
			status: null,
		});
	});
});

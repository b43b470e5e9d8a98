import { defaultFileName, outputFileName } from '../../../nodes/shared/output/file-name';

const item = { id: '8706c4eb-fb26-47fd-a7e7-9d2b47f66630', model: 'aurora-image-1' };

describe('the default file name', () => {
	it.each<[string | null, string]>([
		['Harbor at dawn', 'harbor-at-dawn-8706c4eb'],
		['A lighthouse on a cliff at dusk, oil painting', 'a-lighthouse-on-a-cliff-at-8706c4eb'],
		['Ein Boot für Zoë: "schön"!', 'ein-boot-für-zoë-schön-8706c4eb'],
		['../../etc/passwd', 'etc-passwd-8706c4eb'],
		['夜明けの港に浮かぶ小さな船', '夜明けの港に浮かぶ小さな船-8706c4eb'],
		['x'.repeat(90), `${'x'.repeat(40)}-8706c4eb`],
		['🌊 🚢', 'aurora-image-1-8706c4eb'],
		// Each of these ends with an invisible mark.
		['❤️ Harbor ⚓️ at dawn', 'harbor-at-dawn-8706c4eb'],
		['नमस्ते दुनिया', 'नमस्ते-दुनिया-8706c4eb'],
		[null, 'aurora-image-1-8706c4eb'],
	])('of %j', (prompt, name) => {
		expect(defaultFileName(prompt, item)).toBe(name);
	});
});

it.each([
	['lighthouse', 1, 'lighthouse-2'],
	['lighthouse.png', 2, 'lighthouse-3.png'],
	['v1.5 of it', 1, 'v1.5 of it-2'],
])('the chosen file name %j of output %d is %j', (chosen, outputIndex, name) => {
	expect(outputFileName(chosen, outputIndex)).toBe(name);
});

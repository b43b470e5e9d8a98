// node scan.mjs <folder of the unpacked package> <folder of its source>
// The lint of n8n's scan of community packages, which itself only takes packages that are on npm.
// Prints JSON: what each of the two has failed, or null.
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const [packed, source] = process.argv.slice(2);

async function failureOf(folder, patterns) {
	const { passed, message, details } = await analyzePackage(folder, patterns);
	return passed ? null : `${message}\n${details ?? ''}`;
}

const failures = {
	packed: await failureOf(packed, ['**/*.js', 'package.json']),
	source: await failureOf(source, SOURCE_FILE_PATTERNS),
};
process.stdout.write(JSON.stringify(failures));

// node tools/with-dependencies.mjs <command> [arguments]
// Installs the dependencies if they are missing, then runs a command and ends with its exit code or signal.
import { ensureDependenciesOrExit } from './dependencies.mjs';
import { run } from './run.mjs';

const [command, ...args] = process.argv.slice(2);
if (!command) {
	console.error('Usage: node tools/with-dependencies.mjs <command> [arguments]');
	process.exit(2);
}

/**
 * Runs a TypeScript program with Node and `--require tsx/cjs`. The command `tsx` would kill a program that does not end
 * at once after a signal, before its cleanup.
 */
function started() {
	const program = command === 'tsx' && /\.[cm]?ts$/.test(args[0] ?? '');
	return program ? [process.execPath, ['--require', 'tsx/cjs', ...args]] : [command, args];
}

await ensureDependenciesOrExit();
const { code, stderr } = await run(...started());
if (code === 127 && stderr) console.error(`${command} cannot be started: ${stderr}`);
process.exitCode = code;

// node tools/with-dependencies.mjs <command> [arguments]
// Installs the dependencies if they are missing, then runs a command and ends as it ends.
import { ensureDependenciesOrExit } from './dependencies.mjs';
import { run } from './run.mjs';

const [command, ...args] = process.argv.slice(2);
if (!command) {
	console.error('Usage: node tools/with-dependencies.mjs <command> [arguments]');
	process.exit(2);
}

await ensureDependenciesOrExit();
const { code, stderr } = await run(command, args);
if (code === 127 && stderr) console.error(`${command} cannot be started: ${stderr}`);
process.exitCode = code;

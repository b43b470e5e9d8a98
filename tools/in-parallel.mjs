// node tools/in-parallel.mjs <command> ...
// Runs commands at the same time. The first failure ends the others. The last line is the one of the first command.
import concurrently from 'concurrently';

const { commands, result } = concurrently(process.argv.slice(2), {
	group: true,
	prefix: 'none',
	killOthersOn: ['failure'],
});
let said = '';
commands[0].stdout.subscribe((chunk) => (said = (said + chunk).slice(-1000)));
for (const [name, code] of [
	['SIGINT', 130],
	['SIGTERM', 143],
]) {
	process.on(name, () => (process.exitCode = code));
}
const ended = await result.catch((events) => events);

console.log();
for (const { command, exitCode, killed, timings } of ended) {
	const verdict = killed ? 'ended early' : exitCode === 0 ? 'passed' : 'FAILED';
	const seconds = timings.durationSeconds.toFixed(1).padStart(6);
	console.log(`${seconds} s  ${verdict.padEnd(11)}  ${command.command}`);
}
const last = said.trimEnd().split('\n').at(-1);
console.log(`\n${/^\d+ passed, \d+ failed$/.test(last) ? last : '0 passed, 0 failed'}`);
process.exitCode ??= ended.every(({ exitCode }) => exitCode === 0) ? 0 : 1;

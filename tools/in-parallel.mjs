// node tools/in-parallel.mjs <command> ...
// Runs commands at the same time. The first failure ends the others. The last line sums up what their last lines count.
import concurrently from 'concurrently';

// The commands inherit that the dependencies were checked, and do not install them at the same time.
import './install.mjs';

const { commands, result } = concurrently(process.argv.slice(2), {
	group: true,
	prefix: 'none',
	killOthersOn: ['failure'],
});
const said = commands.map(() => '');
commands.forEach(({ stdout }, index) =>
	stdout.subscribe((chunk) => (said[index] = (said[index] + chunk).slice(-1000))),
);
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
const counts = said.map((text) => /(?:^|\n)(\d+) passed, (\d+) failed\s*$/.exec(text) ?? []);
const sum = (group) => counts.reduce((total, { [group]: count = 0 }) => total + Number(count), 0);
console.log(`\n${sum(1)} passed, ${sum(2)} failed`);
process.exitCode ??= ended.every(({ exitCode }) => exitCode === 0) ? 0 : 1;

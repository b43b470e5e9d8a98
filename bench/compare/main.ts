// npm run bench:compare: this package beside what else there is, in one real n8n and on one sandbox.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Command, InvalidArgumentError, Option } from 'commander';

import { stopSignal } from '../../tools/stop-signal';
import { writeDocs } from '../docs';
import { thisMachine, today } from '../machine';
import { documented } from '../sections';
import { printTable } from '../table';
import { drawComparison } from './chart';
import { tableOf } from './comparison';
import type { Comparison } from './comparison';
import { compare, type Which } from './compare';
import { Stage } from './stage';
import type { VideoOrder } from './trial';

const root = resolve(__dirname, '../..');
const resultFile = join(root, 'bench', 'compare.json');
const chartFile = join(root, 'docs', 'comparison.svg');

const usual: VideoOrder = { videos: 20, seconds: 20, limit: 10 };

interface Values extends Pick<VideoOrder, 'videos' | 'seconds'> {
	ours?: boolean;
	draw?: boolean;
}

const program = new Command('npm run bench:compare --')
	.option('--videos <number>', 'how many videos each approach makes', countFrom, usual.videos)
	.option('--seconds <number>', 'how long the service takes for one', countFrom, usual.seconds)
	.addOption(
		new Option(
			'--ours',
			'only this package, which takes 5 minutes; the others stay as they were measured',
		).conflicts(['videos', 'seconds']),
	)
	.option('--draw', 'only draw docs/comparison.svg again, from bench/compare.json')
	.addHelpText(
		'after',
		`
All takes about 25 minutes. With other numbers, such as --videos 4 --seconds 5 for a quick look,
the result is printed and not kept.`,
	);

async function main(): Promise<void> {
	const { ours, draw: drawsOnly, ...asked } = program.parse().opts<Values>();
	if (drawsOnly) return draw(kept());

	const order = { ...asked, limit: usual.limit };
	const now = await measured(order, ours ? 'ours' : 'all');
	const { rows } = now;
	const before = kept();
	const comparison = ours
		? { ...before, oursDate: now.date, rows: [...rows, ...before.rows.slice(1)] }
		: now;
	const { videos, secondsEach, limit } = comparison;
	printTable(`${videos} videos of ${secondsEach} s each, limit ${limit}`, tableOf(comparison));
	if (videos !== usual.videos || secondsEach !== usual.seconds) return;
	writeFileSync(resultFile, `${JSON.stringify(comparison, null, '\t')}\n`);
	draw(comparison);
	console.log('\nWritten to bench/compare.json, docs/comparison.svg and docs/compared.md');
}

function kept(): Comparison {
	return JSON.parse(readFileSync(resultFile, 'utf8')) as Comparison;
}

async function measured(order: VideoOrder, which: Which): Promise<Comparison> {
	// Leaving ends n8n as well, whatever is under way.
	const stage = await Stage.open(stopSignal(0));
	try {
		const { rows, price } = await compare(stage, order, (line) => console.log(line), which);
		return {
			date: today(),
			n8n: stage.installation.version,
			node: process.version,
			machine: thisMachine(),
			videos: order.videos,
			secondsEach: order.seconds,
			limit: order.limit,
			price,
			rows,
		};
	} finally {
		await stage.close();
	}
}

function draw(comparison: Comparison): void {
	writeFileSync(chartFile, drawComparison(comparison));
	writeDocs(documented());
}

function countFrom(text: string): number {
	const value = Number(text);
	if (Number.isInteger(value) && value > 0) return value;
	throw new InvalidArgumentError('It must be a whole number from 1.');
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});

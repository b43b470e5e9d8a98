// npm run bench -- compare: compares this package with other approaches, in one real n8n and with one sandbox.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Command, InvalidArgumentError, Option } from 'commander';

import { stopSignal } from '../../tools/stop-signal';
import { writeDocs } from '../docs';
import { thisMachine, today } from '../machine';
import { documented } from '../sections';
import { printTable } from '../table';
import { sideBySide } from './comparison';
import type { Comparison } from './comparison';
import { compare, type Which } from './compare';
import { Stage } from './stage';
import type { VideoOrder } from './trial';

const root = resolve(__dirname, '../..');
const resultFile = join(root, 'bench', 'compare.json');

const usual: VideoOrder = { videos: 20, seconds: 20, limit: 10 };

interface Values extends Pick<VideoOrder, 'videos' | 'seconds'> {
	ours?: boolean;
}

const program = new Command('npm run bench -- compare')
	.option('--videos <number>', 'how many videos each approach makes', countFrom, usual.videos)
	.option('--seconds <number>', 'how long the service takes for one', countFrom, usual.seconds)
	.addOption(
		new Option(
			'--ours',
			'only this package, which takes 5 minutes; the others stay as they were measured',
		).conflicts(['videos', 'seconds']),
	)
	.addHelpText(
		'after',
		`
All takes about 25 minutes. With other numbers, such as --videos 4 --seconds 5 for a quick look,
the result is printed and not kept.`,
	);

/** @param args the options of the command line */
export async function runComparison(args: string[]): Promise<void> {
	const { ours, ...asked } = program.parse(args, { from: 'user' }).opts<Values>();
	const order = { ...asked, limit: usual.limit };
	const now = await measured(order, ours ? 'ours' : 'all');
	const { rows } = now;
	const before = kept();
	const comparison = ours
		? { ...before, oursDate: now.date, rows: [...rows, ...before.rows.slice(1)] }
		: now;
	const { videos, secondsEach, limit } = comparison;
	printTable(`${videos} videos of ${secondsEach} s each, limit ${limit}`, sideBySide(comparison));
	if (videos !== usual.videos || secondsEach !== usual.seconds) return;
	writeFileSync(resultFile, `${JSON.stringify(comparison, null, '\t')}\n`);
	writeDocs(documented());
	console.log('\nWritten to bench/compare.json and docs/compared.md');
}

function kept(): Comparison {
	return JSON.parse(readFileSync(resultFile, 'utf8')) as Comparison;
}

async function measured(order: VideoOrder, which: Which): Promise<Comparison> {
	// When the process ends, n8n ends too, even during a run.
	const stage = await Stage.open(stopSignal(0));
	try {
		return {
			date: today(),
			n8n: stage.installation.version,
			node: process.version,
			machine: thisMachine(),
			videos: order.videos,
			secondsEach: order.seconds,
			limit: order.limit,
			rows: await compare(stage, order, (line) => console.log(line), which),
		};
	} finally {
		await stage.close();
	}
}

function countFrom(text: string): number {
	const value = Number(text);
	if (Number.isInteger(value) && value > 0) return value;
	throw new InvalidArgumentError('It must be a whole number from 1.');
}

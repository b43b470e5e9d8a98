// npx tsx tools/demo/poster.ts, after `npm run demo`
// Draws docs/overview.png, the picture in the README: the example workflow and its outputs.
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Image, SKRSContext2D } from '@napi-rs/canvas';
import type { INode } from 'n8n-workflow';
import { fontOf } from '../../sandbox/media/fonts';
import { readWorkflow } from '../engine';
import { exampleFile } from './demo';

const root = resolve(__dirname, '../..');
const output = join(root, 'output');

const width = 1600;
const height = 792;
const side = 104;
const row = 88;
const cards = { top: 348, width: 640, height: 360 };
const frameAt = 2.6;
const ink = '#2d2e3a';
const line = '#b9bccb';

type Pen = SKRSContext2D;

/** Returns the x coordinate of the center of a node, by its index and the number of nodes. */
function middleOf(index: number, count: number): number {
	return width / 2 + (index - (count - 1) / 2) * 214;
}

function drawGround(pen: Pen): void {
	pen.beginPath();
	pen.roundRect(0, 0, width, height, 24);
	pen.clip();
	pen.fillStyle = '#f4f5fa';
	pen.fillRect(0, 0, width, height);
	pen.fillStyle = '#dcdfea';
	for (let x = 16; x < width; x += 32) {
		for (let y = 16; y < height; y += 32) pen.fillRect(x - 1, y - 1, 2, 2);
	}
}

function drawConnection(pen: Pen, from: number, to: number): void {
	const y = row + side / 2;
	pen.strokeStyle = line;
	pen.lineWidth = 3;
	pen.beginPath();
	pen.moveTo(from + side / 2, y);
	pen.lineTo(to - side / 2, y);
	pen.stroke();
	pen.fillStyle = line;
	pen.beginPath();
	pen.arc(from + side / 2, y, 7, 0, 2 * Math.PI);
	pen.fill();
	pen.fillRect(to - side / 2 - 5, y - 9, 6, 18);
}

/** Draws a node like n8n's editor does: the left side of a trigger is round. */
async function drawNode(pen: Pen, { name, type }: INode, middle: number): Promise<void> {
	const left = middle - side / 2;
	const isTrigger = type.endsWith('Trigger');
	pen.beginPath();
	pen.roundRect(left, row, side, side, isTrigger ? [48, 12, 12, 48] : 12);
	pen.fillStyle = '#ffffff';
	pen.fill();
	pen.strokeStyle = line;
	pen.lineWidth = 2;
	pen.stroke();
	if (isTrigger) drawPointer(pen, middle, row + side / 2);
	else pen.drawImage(await iconOf(type), middle - 28, row + side / 2 - 28, 56, 56);
	pen.fillStyle = ink;
	pen.font = fontOf(20, 600);
	pen.textAlign = 'center';
	const label = isTrigger ? 'Execute workflow' : name;
	pen.fillText(label, middle, row + side + 32);
}

function drawPointer(pen: Pen, x: number, y: number): void {
	const corners = [
		[-12, -22],
		[-12, 16],
		[-3, 8],
		[3, 21],
		[9, 18],
		[4, 6],
		[15, 5],
	];
	pen.beginPath();
	for (const [dx, dy] of corners) pen.lineTo(x + dx, y + dy);
	pen.closePath();
	pen.fillStyle = '#8d90a3';
	pen.fill();
}

async function iconOf(type: string): Promise<Image> {
	const svg = await readFile(join(root, 'icons', `${type.split('.')[1]}.svg`), 'utf8');
	return await loadImage(Buffer.from(svg.replace('<svg ', '<svg width="112" height="112" ')));
}

/** Draws the line from a node down to the card with its output. */
function drawDrop(pen: Pen, from: number, to: number): void {
	const top = row + side + 48;
	const bend = (top + cards.top) / 2;
	pen.strokeStyle = '#7e6ae8';
	pen.lineWidth = 3;
	pen.setLineDash([8, 8]);
	pen.beginPath();
	pen.moveTo(from, top);
	pen.bezierCurveTo(from, bend, to, bend, to, cards.top);
	pen.stroke();
	pen.setLineDash([]);
}

function drawCard(pen: Pen, image: Image, middle: number, caption: string): void {
	const left = middle - cards.width / 2;
	pen.save();
	pen.shadowColor = 'rgba(30, 25, 70, 0.28)';
	pen.shadowBlur = 28;
	pen.shadowOffsetY = 8;
	pen.fillStyle = '#ffffff';
	pen.beginPath();
	pen.roundRect(left, cards.top, cards.width, cards.height, 16);
	pen.fill();
	pen.restore();
	pen.save();
	pen.clip();
	pen.drawImage(image, left, cards.top, cards.width, cards.height);
	pen.restore();
	pen.fillStyle = ink;
	pen.font = fontOf(20, 400);
	pen.textAlign = 'center';
	pen.fillText(caption, middle, cards.top + cards.height + 46);
}

function drawPlayButton(pen: Pen, x: number, y: number): void {
	pen.fillStyle = 'rgba(255, 255, 255, 0.88)';
	pen.beginPath();
	pen.arc(x, y, 36, 0, 2 * Math.PI);
	pen.fill();
	pen.fillStyle = ink;
	pen.beginPath();
	for (const [dx, dy] of [
		[-10, -17],
		[19, 0],
		[-10, 17],
	]) {
		pen.lineTo(x + dx, y + dy);
	}
	pen.fill();
}

async function outputFile(extension: string): Promise<string> {
	const found = (await readdir(output)).find((name) => name.endsWith(extension));
	if (!found) throw new Error(`output/ has no ${extension} file: run the demo first.`);
	return found;
}

async function frameOf(file: string): Promise<Image> {
	const cut = ['-ss', String(frameAt), '-i', join(output, file), '-frames:v', '1'];
	const args = ['-v', 'error', ...cut, '-f', 'image2pipe', '-c:v', 'png', '-'];
	const options = { encoding: 'buffer', maxBuffer: 2 ** 25 } as const;
	const { stdout } = await promisify(execFile)(ffmpeg, args, options);
	return await loadImage(stdout);
}

async function main(): Promise<void> {
	const all = readWorkflow(join(root, exampleFile)).nodes;
	const nodes = all.filter(({ type }) => !type.endsWith('.stickyNote'));
	const placeOf = (name: string) =>
		middleOf(
			nodes.findIndex((node) => node.name === name),
			nodes.length,
		);
	const canvas = createCanvas(width, height);
	const pen = canvas.getContext('2d');
	drawGround(pen);
	const [left, right] = [width * 0.26, width * 0.74];
	drawDrop(pen, placeOf('Create Picture'), left);
	drawDrop(pen, placeOf('Collect Video'), right);
	for (let index = 1; index < nodes.length; index++) {
		drawConnection(pen, middleOf(index - 1, nodes.length), middleOf(index, nodes.length));
	}
	for (const node of nodes) await drawNode(pen, node, placeOf(node.name));

	const [png, mp4] = [await outputFile('.png'), await outputFile('.mp4')];
	drawCard(pen, await loadImage(join(output, png)), left, png);
	drawCard(pen, await frameOf(mp4), right, mp4);
	drawPlayButton(pen, right + cards.width / 2 - 64, cards.top + cards.height - 64);
	await mkdir(join(root, 'docs'), { recursive: true });
	await writeFile(join(root, 'docs', 'overview.png'), await canvas.encode('png'));
}

void main();

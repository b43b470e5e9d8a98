/** Copies the downloaded files out of n8n's storage, and reads their properties. */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdir, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { path as ffprobe } from '@ffprobe-installer/ffprobe';
import type { IBinaryData } from 'n8n-workflow';
import type { Run } from '../engine';

/** A file that a node returned, copied out of n8n's storage. */
export interface SavedFile {
	path: string;
	/** The generation that created the file. */
	generationId: string;
	bytes: number;
	/** Pixels. */
	width: number;
	height: number;
	/** `null` for a picture. */
	video: { seconds: number; framesPerSecond: number } | null;
}

/** Saves every file of a run's items to a folder under its own name, in the order of the nodes. */
export async function saveFiles(run: Run, nodes: string[], folder: string): Promise<SavedFile[]> {
	await mkdir(folder, { recursive: true });
	const saved: SavedFile[] = [];
	for (const node of nodes) {
		for (const { json, binary = {} } of run.output(node)) {
			for (const field of Object.values(binary)) {
				const path = freePath(folder, field, saved);
				await pipeline(await run.binaryStream(field), createWriteStream(path));
				const { size } = await stat(path);
				saved.push({ path, generationId: String(json.id), bytes: size, ...(await look(path)) });
			}
		}
	}
	return saved;
}

/** Returns a path that overwrites files of an earlier run, but not of this one. */
function freePath(folder: string, { fileName, fileExtension }: IBinaryData, saved: SavedFile[]) {
	const { name, ext } = parse(fileName ?? `output.${fileExtension ?? 'bin'}`);
	const pathOf = (count: number) => join(folder, `${name}${count > 1 ? `-${count}` : ''}${ext}`);
	let count = 1;
	while (saved.some(({ path }) => path === pathOf(count))) count++;
	return pathOf(count);
}

interface Probed {
	streams: Array<{ width: number; height: number; avg_frame_rate: string }>;
	format: { format_name: string; duration?: string };
}

async function look(path: string): Promise<Pick<SavedFile, 'width' | 'height' | 'video'>> {
	// Its install script makes it executable, but may not have run.
	await access(ffprobe, constants.X_OK).catch(async () => await chmod(ffprobe, 0o755));
	const entries = 'stream=width,height,avg_frame_rate:format=format_name,duration';
	const args = ['-v', 'error', '-show_entries', entries, '-of', 'json', path];
	const { stdout } = await promisify(execFile)(ffprobe, args);
	const { streams, format } = JSON.parse(stdout) as Probed;
	const [{ width, height, avg_frame_rate: rate }] = streams;
	if (format.format_name === 'png_pipe') return { width, height, video: null };
	const [frames, time] = rate.split('/').map(Number);
	const video = { seconds: Number(format.duration), framesPerSecond: frames / time };
	return { width, height, video };
}

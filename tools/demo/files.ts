/** Copies the downloaded files out of n8n's storage, and reads their properties. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { IBinaryData } from 'n8n-workflow';
import type { Run } from '../engine';
import { readMediaInfo } from '../media-info';

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

/** Saves every file of a run's items to an existing folder under its own name, in the order of the nodes. */
export async function saveFiles(run: Run, nodes: string[], folder: string): Promise<SavedFile[]> {
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

async function look(path: string): Promise<Pick<SavedFile, 'width' | 'height' | 'video'>> {
	const { codec, width, height, seconds, framesPerSecond } = await readMediaInfo(path);
	return { width, height, video: codec === 'png' ? null : { seconds, framesPerSecond } };
}

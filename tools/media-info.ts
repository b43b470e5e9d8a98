import { execFile } from 'node:child_process';
import { access, chmod, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';

/** What ffmpeg reads in a picture or video. */
export interface MediaInfo {
	codec: string;
	pixelFormat: string;
	/** Pixels. */
	width: number;
	height: number;
	/** 0 for a picture. */
	framesPerSecond: number;
	frames: number;
	/** 0 for a picture. */
	seconds: number;
}

/** Returns the properties of a file's only stream. Throws if ffmpeg finds another number of streams. */
export async function readMediaInfo(path: string): Promise<MediaInfo> {
	// Its install script makes it executable, but may not have run.
	await access(ffmpeg, constants.X_OK).catch(async () => await chmod(ffmpeg, 0o755));
	const args = ['-hide_banner', '-nostdin', '-i', path, '-c', 'copy', '-f', 'null', '-'];
	const { stderr } = await promisify(execFile)(ffmpeg, args);
	const [input] = stderr.split('Output #0');
	const streams = [
		...input.matchAll(
			/Stream #.*: Video: (\w+).*?, (\w+)\b.*?, (\d+)x(\d+)(?:.*?, ([\d.]+) fps)?/g,
		),
	];
	if (streams.length !== 1 || input.split('Stream #').length !== 2) throw new Error(stderr);
	const [[, codec, pixelFormat, ...numbers]] = streams;
	const [width, height, framesPerSecond] = numbers.map((number) => Number(number ?? 0));
	// Progress is printed until the last frame.
	const frames = Number([...stderr.matchAll(/frame= *(\d+)/g)].at(-1)?.[1]);
	const [hours, minutes, rest] = /Duration: (\d+):(\d+):([\d.]+)/.exec(input)?.slice(1) ?? [
		0, 0, 0,
	];
	const seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
	return { codec, pixelFormat, width, height, framesPerSecond, frames, seconds };
}

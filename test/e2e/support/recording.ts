import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import type { Page } from 'playwright-core';

const framesPerSecond = 10;
const size = { width: 1440, height: 900 };

const input = [
	'-f',
	'image2pipe',
	'-framerate',
	String(framesPerSecond),
	'-c:v',
	'mjpeg',
	'-i',
	'-',
];
const coding = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '24', '-pix_fmt', 'yuv420p'];

/** Records a page of the browser into an MP4 file in real time. */
export class Recording {
	private readonly startedAt = performance.now();
	private latest: Buffer = Buffer.alloc(0);
	private written = 0;

	private constructor(
		private readonly page: Page,
		private readonly encoder: ChildProcessByStdio<Writable, null, null>,
	) {}

	static async start(page: Page, file: string): Promise<Recording> {
		const args = ['-v', 'error', '-y', ...input, ...coding, '-movflags', '+faststart', file];
		const encoder = spawn(ffmpeg, args, { stdio: ['pipe', 'ignore', 'inherit'] });
		const recording = new Recording(page, encoder);
		const onFrame = ({ data }: { data: Buffer }) => recording.take(data);
		await page.screencast.start({ size, fps: framesPerSecond, quality: 85, onFrame });
		return recording;
	}

	/** How long it has recorded, in milliseconds. */
	get elapsedMs(): number {
		return performance.now() - this.startedAt;
	}

	/** Ends the recording, and completes the file. */
	async stop(): Promise<void> {
		await this.page.screencast.stop();
		this.fill();
		this.encoder.stdin.end();
		const [code] = (await once(this.encoder, 'close')) as [number];
		if (code !== 0) throw new Error(`ffmpeg ended with code ${code}`);
	}

	private take(frame: Buffer): void {
		this.fill();
		this.latest = frame;
	}

	/** Repeats the latest frame up to now: the browser sends a frame only when something changes. */
	private fill(): void {
		if (this.latest.length === 0) return;
		const due = Math.floor((this.elapsedMs / 1000) * framesPerSecond);
		for (; this.written < due; this.written++) this.encoder.stdin.write(this.latest);
	}
}

export type MediaType = 'image' | 'video';
export type Resolution = '480p' | '720p' | '1080p';

/** Frames a second of a video (spec 4.2). */
export const frameRates = [12, 24, 30] as const;
export type Fps = (typeof frameRates)[number];

interface ModelBasics {
	readonly id: string;
	readonly name: string;
	readonly provider: string;
	readonly description: string;
	/** Average generation time in seconds. */
	readonly averageSeconds: number;
	readonly seed: boolean;
	readonly negativePrompt: boolean;
	/** How many reference inputs the model takes; 0 where it takes none. */
	readonly maxReferences: number;
}

export interface ImageModel extends ModelBasics {
	readonly type: 'image';
	readonly maxResolution: readonly [number, number];
	/** The only sizes it makes, or null where any up to `maxResolution` will do. */
	readonly sizes: readonly string[] | null;
	/** Whether it takes `size` at all. */
	readonly sizeChoice: boolean;
	readonly edit: boolean;
	/** Price of a picture. */
	readonly credits: number;
}

export interface VideoModel extends ModelBasics {
	readonly type: 'video';
	readonly resolutions: readonly Resolution[];
	/** Whether it takes `resolution`, and `fps`, at all. */
	readonly resolutionChoice: boolean;
	readonly fpsChoice: boolean;
	/** Seconds. */
	readonly maxDuration: number;
	/** Whether it takes `image_url`. */
	readonly imageInput: boolean;
	/** Price of a second at 720p. */
	readonly creditsPerSecond: number;
}

export type Model = ImageModel | VideoModel;

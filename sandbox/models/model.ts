export type MediaType = 'image' | 'video';
export type Resolution = '480p' | '720p' | '1080p';

/** Frames per second of a video (spec 4.2). */
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
	/** Maximum number of reference inputs. 0 if the model does not accept any. */
	readonly maxReferences: number;
}

export interface ImageModel extends ModelBasics {
	readonly type: 'image';
	readonly maxResolution: readonly [number, number];
	/** The only supported sizes, or null if every size up to `maxResolution` is supported. */
	readonly sizes: readonly string[] | null;
	/** True if the model accepts `size`. */
	readonly sizeChoice: boolean;
	readonly edit: boolean;
	/** Price of an image. */
	readonly credits: number;
}

export interface VideoModel extends ModelBasics {
	readonly type: 'video';
	readonly resolutions: readonly Resolution[];
	/** True if the model accepts `resolution`; `fpsChoice` is the same for `fps`. */
	readonly resolutionChoice: boolean;
	readonly fpsChoice: boolean;
	/** Maximum duration in seconds. */
	readonly maxDuration: number;
	/** True if the model accepts `image_url`. */
	readonly imageInput: boolean;
	/** Price per second at 720p. */
	readonly creditsPerSecond: number;
}

export type Model = ImageModel | VideoModel;

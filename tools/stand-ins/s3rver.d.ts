/** The package has no types. These are the parts that the stand-in uses. */
declare module '@20minutes/s3rver' {
	interface Options {
		address: string;
		port: number;
		directory: string;
		silent: boolean;
		configureBuckets: Array<{ name: string; configs: string[] }>;
	}

	export default class S3rver {
		constructor(options: Options);
		run(): Promise<{ address: string; port: number }>;
		close(): Promise<void>;
	}
}

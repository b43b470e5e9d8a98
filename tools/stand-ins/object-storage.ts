import S3rver from '@20minutes/s3rver';
import { getBytes, http } from '../http';

/** An S3-compatible storage with one bucket, which checks the signature of every signed request. */
export class ObjectStorage {
	private constructor(
		private readonly server: S3rver,
		readonly url: string,
		readonly bucket: string,
	) {}

	/** @param directory where it keeps its objects */
	static async open(directory: string, bucket: string): Promise<ObjectStorage> {
		const configureBuckets = [{ name: bucket, configs: [] }];
		const address = '127.0.0.1';
		const server = new S3rver({ address, port: 0, directory, silent: true, configureBuckets });
		const { port } = await server.run();
		return new ObjectStorage(server, `http://${address}:${port}`, bucket);
	}

	/** Data of a credential of the type `s3`; the key and the secret are those of the server. */
	get credential(): object {
		return {
			endpoint: this.url,
			region: 'us-east-1',
			accessKeyId: 'S3RVER',
			secretAccessKey: 'S3RVER',
			forcePathStyle: true,
		};
	}

	/** Returns the names of all objects. */
	async names(): Promise<string[]> {
		const { data } = await http.get<string>(`${this.url}/${this.bucket}`);
		return [...data.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name]) => name);
	}

	async get(name: string): Promise<{ bytes: Buffer; type: string }> {
		const { status, headers, data } = await getBytes(`${this.url}/${this.bucket}/${name}`);
		if (status !== 200) throw new Error(`${name}: ${status}`);
		return { bytes: data, type: String(headers['content-type']) };
	}

	async close(): Promise<void> {
		await this.server.close();
	}
}

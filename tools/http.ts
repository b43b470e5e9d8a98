/** The HTTP client of tests, tools and benchmarks. The published package sends its requests through n8n. */
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import axios from 'axios';
import type { AxiosRequestConfig, AxiosResponse } from 'axios';

/**
 * Every status is a response, and redirects are not followed: the caller sees what the server sent.
 * Bodies are parsed as JSON where possible, and are text otherwise.
 * No request reuses a connection: servers close idle ones, and the next request could hit that moment.
 */
export const http = axios.create({
	// All servers run on this machine.
	proxy: false,
	maxRedirects: 0,
	validateStatus: null,
	httpAgent: new Agent({ keepAlive: false }),
});

/** Sends a GET request and returns the response with its body as bytes. */
export async function getBytes(
	url: string,
	config?: AxiosRequestConfig,
): Promise<AxiosResponse<Buffer>> {
	return await http.get<Buffer>(url, { ...config, responseType: 'arraybuffer' });
}

/** Sends a GET request and returns the response once its headers are there, with its body as a stream. */
export async function getStream(
	url: string,
	config?: AxiosRequestConfig,
): Promise<AxiosResponse<Readable>> {
	return await http.get<Readable>(url, { ...config, responseType: 'stream' });
}

import { VirtualSandbox } from './virtual';

function finished(options = {}) {
	const sandbox = new VirtualSandbox(options);
	const { id } = sandbox.created();
	sandbox.clock.pass(10);
	return { sandbox, id, url: sandbox.look(id).data[0].url };
}

describe('a presigned URL', () => {
	it('is not valid for HEAD', () => {
		const { sandbox, url } = finished();
		expect(sandbox.fetch(url, 'HEAD').status).toBe(403);
	});

	it.each([
		['path', (url: string) => url.replace(/.\.png/, 'x.png')],
		['date', (url: string) => url.replace(/X-Amz-Date=2026/, 'X-Amz-Date=2027')],
		['lifetime', (url: string) => url.replace('Expires=3600', 'Expires=99999')],
		['signature', (url: string) => url.replace(/.$/, '_')],
		['whole query', (url: string) => url.replace(/\?.*/, '')],
	])('is invalid with a changed %s', (_part, change) => {
		const { sandbox, url } = finished();
		const reply = sandbox.fetch(change(url));
		expect(reply).toMatchObject({ status: 403, headers: { 'content-type': 'application/xml' } });
		expect(reply.body).toMatch(/^<\?xml.*<Error><Code>/s);
	});

	it('is valid for an hour; shortly before its end the status endpoint returns a new one', () => {
		const { sandbox, id, url } = finished();
		sandbox.clock.pass(3000);
		expect(sandbox.look(id).data[0].url).toBe(url);
		expect(sandbox.fetch(url).status).toBe(200);
		sandbox.clock.pass(500);
		expect(sandbox.look(id).data[0].url).not.toBe(url);
		expect(sandbox.fetch(url).status).toBe(200);
		sandbox.clock.pass(100);
		expect(sandbox.fetch(url)).toMatchObject({
			status: 403,
			body: expect.stringContaining('expired'),
		});
		const fresh = sandbox.look(id).data[0].url;
		expect(fresh).not.toBe(url);
		expect(sandbox.fetch(fresh).status).toBe(200);
	});
});

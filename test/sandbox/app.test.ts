import { setImmediate as turn } from 'node:timers/promises';
import { close, listen, serverWith } from '../../sandbox/http/app';
import { http } from '../../tools/http';

/** Express prints errors everywhere but in tests. */
const { NODE_ENV } = process.env;
beforeEach(() => (process.env.NODE_ENV = 'development'));
afterEach(() => {
	process.env.NODE_ENV = NODE_ENV;
	jest.restoreAllMocks();
});

it('closes the connection if a response fails midway, and prints nothing', async () => {
	const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
	const server = serverWith((app) =>
		app.use((_request, response) => {
			response.writeHead(200, { 'content-length': 10 });
			response.write('half');
			throw new Error('broken');
		}),
	);
	try {
		const url = await listen(server, '127.0.0.1', 0);
		await expect(http.get(url)).rejects.toThrow();
		await turn();
		expect(printed).not.toHaveBeenCalled();
	} finally {
		await close(server);
	}
});

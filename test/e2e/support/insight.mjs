// Imported by an n8n that is to be looked into (`NODE_OPTIONS`), before anything of its own: answers at a port of this
// machine with what n8n keeps in memory. Only tests do this.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

const PACKAGE = 'n8n-nodes-media-generation/dist';
/** Every CommonJS module that is loaded, by its path. */
const { cache } = createRequire(import.meta.url);

v8.setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** How many of each there are: `{ Timeout: 3 }`. */
function counted(names) {
	const counts = {};
	for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
	return counts;
}

/** Objects of the package's own classes that are still alive. */
function ownObjects() {
	const counts = {};
	for (const [path, module] of Object.entries(cache)) {
		if (!path.includes(PACKAGE)) continue;
		for (const [name, value] of Object.entries(module?.exports ?? {})) {
			const isClass = typeof value === 'function' && /^class\b/.test(String(value));
			// Descriptions of nodes and credentials live as long as n8n does.
			if (!isClass || /\.(node|credentials)\.js$/.test(path)) continue;
			const count = v8.queryObjects(value, { format: 'count' });
			counts[name] = Math.max(counts[name] ?? 0, count);
		}
	}
	return counts;
}

function figures() {
	collectGarbage();
	const { rss, heapUsed } = process.memoryUsage();
	return { rss, heapUsed, resources: counted(process.getActiveResourcesInfo()) };
}

const port = Number(process.env.MEDIA_INSIGHT_PORT);
// What n8n starts itself has the same environment, and not this port.
if (port > 0 && process.argv.includes('start')) {
	const server = createServer((request, answer) => {
		const found = request.url === '/objects' ? { ...figures(), own: ownObjects() } : figures();
		answer.setHeader('connection', 'close').end(JSON.stringify(found));
	});
	server.listen(port, '127.0.0.1').unref();
}

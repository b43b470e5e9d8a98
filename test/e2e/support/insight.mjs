// Preloaded into an n8n under inspection (`NODE_OPTIONS`), before n8n's own code. Reports on a local port
// what n8n keeps in memory. Only tests use this.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

const PACKAGE = 'n8n-nodes-media-generation/dist';
/** Every loaded CommonJS module, by its path. */
const { cache } = createRequire(import.meta.url);

v8.setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Counts equal names: `{ Timeout: 3 }`. */
function counted(names) {
	const counts = {};
	for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
	return counts;
}

/** Counts the living objects of the package's own classes. */
function ownObjects() {
	const counts = {};
	for (const [path, module] of Object.entries(cache)) {
		if (!path.includes(PACKAGE)) continue;
		for (const [name, value] of Object.entries(module?.exports ?? {})) {
			const isClass = typeof value === 'function' && /^class\b/.test(String(value));
			// Descriptions of nodes and credentials live as long as n8n.
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
// Child processes of n8n inherit the environment, but must not open this port.
if (port > 0 && process.argv.includes('start')) {
	const server = createServer((request, answer) => {
		const found = request.url === '/objects' ? { ...figures(), own: ownObjects() } : figures();
		answer.setHeader('connection', 'close').end(JSON.stringify(found));
	});
	server.listen(port, '127.0.0.1').unref();
}

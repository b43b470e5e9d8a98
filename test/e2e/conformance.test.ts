/**
 * MCP's own conformance suite against the sandbox's connector. The scenarios that do not apply have to fail, so that the
 * list below stays true.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import { close, listen } from '../../sandbox/http/app';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { answerQuestion } from '../sandbox/signing-in';
import { runConformance } from './support/conformance';
import { outputFolder } from './support/surroundings';

const tool =
	'needs a tool of the test server of the suite. The connector has the six tools of the specification';
const prompts = 'needs prompts, which the connector does not have (spec 1.6)';
const resources = 'needs resources, which the connector does not have (spec 1.6)';

/** The scenarios that do not apply to the connector, and why. */
const doesNotApply: Readonly<Record<string, string>> = {
	'completion-complete': prompts,
	'elicitation-sep1034-defaults': tool,
	'elicitation-sep1330-enums': tool,
	'json-schema-2020-12': tool,
	'logging-set-level':
		'needs log notifications. The connector sends none: it has no stream of events',
	'prompts-get-embedded-resource': prompts,
	'prompts-get-simple': prompts,
	'prompts-get-with-args': prompts,
	'prompts-get-with-image': prompts,
	'prompts-list': prompts,
	'resources-list': resources,
	'resources-read-binary': resources,
	'resources-read-text': resources,
	'resources-subscribe': resources,
	'resources-templates-read': resources,
	'resources-unsubscribe': resources,
	'tools-call-audio': tool,
	'tools-call-elicitation': tool,
	'tools-call-embedded-resource': tool,
	'tools-call-error': tool,
	'tools-call-image': tool,
	'tools-call-mixed-content': tool,
	'tools-call-sampling': tool,
	'tools-call-simple-text': tool,
	'tools-call-with-logging': tool,
	'tools-call-with-progress': tool,
};

/** The scenarios that skip themselves, because the connector is stateless: it has no sessions and no events. */
const skipped = ['server-session-lifecycle', 'server-sse-multiple-streams', 'server-sse-polling'];

/** The scenarios that the connector passes. */
const applies = ['dns-rebinding-protection', 'ping', 'server-initialize', 'tools-list'];

/** What the sign-in may offer, but does not, and why. */
const notOffered: Readonly<Record<string, string>> = {
	'authorization-server-metadata-cimd': 'needs the web page of an app. The sandbox works offline',
};

interface Check {
	id: string;
	status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
	errorMessage?: string;
}

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());

/** Adds a key to each request, because the suite has no option for one. Returns the URL to ask. */
async function withKey(): Promise<{ url: string; end: () => Promise<void> }> {
	const { port } = new URL(sandbox.url);
	const authorization = `Bearer ${sandbox.keys.main}`;
	const proxy = createServer((asked, answer) => {
		const { method, url: path } = asked;
		const headers = { ...asked.headers, authorization };
		const sent = forward({ host: '127.0.0.1', port, method, path, headers }, (received) => {
			answer.writeHead(received.statusCode ?? 502, received.headers);
			received.pipe(answer);
		});
		sent.once('error', () => answer.destroy());
		asked.pipe(sent);
	});
	const url = await listen(proxy, '127.0.0.1', 0);
	return { url, end: async () => await close(proxy) };
}

/** Returns the checks of each scenario, as the suite has written them. */
async function checksIn(folder: string, kind: string): Promise<Map<string, Check[]>> {
	const checks = new Map<string, Check[]>();
	for (const name of await readdir(folder)) {
		const [, scenario] =
			new RegExp(`^${kind}-(.+)-\\d{4}-\\d\\d-\\d\\dT[-\\d]+Z$`).exec(name) ?? [];
		if (!scenario) throw new Error(`Not a scenario: ${name}`);
		const text = await readFile(join(folder, name, 'checks.json'), 'utf8');
		checks.set(scenario, JSON.parse(text) as Check[]);
	}
	return checks;
}

it('the connector conforms to MCP 2025-11-25, apart from what it does not have', async () => {
	const folder = outputFolder('conformance');
	await rm(folder, { recursive: true, force: true });
	const proxy = await withKey();
	try {
		const options = ['--suite', 'all', '--spec-version', '2025-11-25', '-o', folder];
		await runConformance(['server', '--url', `${proxy.url}/mcp`, ...options]);
	} finally {
		await proxy.end();
	}
	const scenarios = await checksIn(folder, 'server');
	const failed = [...scenarios].filter(([, checks]) => checks.some(isFailure));
	expect(failed.map(([name]) => name).sort()).toEqual(Object.keys(doesNotApply));
	expect([...scenarios.keys()].sort()).toEqual(
		[...Object.keys(doesNotApply), ...skipped, ...applies].sort(),
	);
	// What does not apply is rejected as MCP requires: every message follows its schema, and the reason is right.
	const reasons = /Method not found|Unknown tool: test_|Tool 'json_schema_2020_12_tool' not found/;
	for (const [name, checks] of failed) {
		const wrong = checks.filter(isFailure).map(({ errorMessage = '' }) => errorMessage);
		expect([name, wrong]).toEqual([name, [expect.stringMatching(reasons)]]);
	}
	for (const [name, checks] of scenarios) {
		if (skipped.includes(name)) continue;
		const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
		expect([name, passed > 0]).toEqual([name, true]);
	}
});

it('the sign-in conforms to MCP 2025-11-25', async () => {
	const folder = outputFolder('conformance-sign-in');
	await rm(folder, { recursive: true, force: true });
	const { port, end } = await freePort();
	await end();
	// The suite sends no secret to a service that also accepts none.
	const { data: app } = await http.post<{ client_id: string }>(`${sandbox.url}/register`, {
		redirect_uris: [`http://127.0.0.1:${port}/callback`],
		token_endpoint_auth_method: 'none',
	});
	const options = [
		...['--url', `${sandbox.url}/`, '--resource', `${sandbox.url}/mcp`, '-p', port],
		...['--client-id', app.client_id, '--spec-version', '2025-11-25', '-o', folder],
	];
	// The suite prints the address that a person opens, and waits until the browser comes back.
	const answered = async (line: string): Promise<void> => {
		if (!line.startsWith(`${sandbox.url}/authorize?`)) return;
		const back = await answerQuestion(line, 'allow');
		expect((await http.get(back.href)).status).toBe(200);
	};
	await runConformance(['authorization', ...options], answered);
	const scenarios = await checksIn(folder, 'authorization-server');
	expect([...scenarios.keys()].sort()).toEqual([
		'authorization-code-grant',
		'authorization-server-metadata-endpoint',
	]);
	const all = [...scenarios.values()].flat();
	expect(all.filter(isFailure)).toEqual([]);
	const warned = all.filter(({ status }) => status === 'WARNING').map(({ id }) => id);
	expect(warned).toEqual(Object.keys(notOffered));
	for (const [name, checks] of scenarios) {
		expect([name, checks.some(({ status }) => status === 'SUCCESS')]).toEqual([name, true]);
	}
});

function isFailure({ status }: Check): boolean {
	return status === 'FAILURE';
}

async function freePort(): Promise<{ port: string; end: () => Promise<void> }> {
	const server = createServer();
	const { port } = new URL(await listen(server, '127.0.0.1', 0));
	return { port, end: async () => await close(server) };
}

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
	'needs a tool of the test server of the suite. The connector has six others (spec 1.6)';
const prompts = 'needs prompts, which the connector does not have (spec 1.6)';
const resources = 'needs resources, which the connector does not have (spec 1.6)';
const events = 'needs events or sessions. The connector is stateless, and sends no events';
const inputs = 'needs a tool that asks its user. Those of the connector do not';

/** The scenarios that do not apply to any revision, and why. */
const neverApplies: Readonly<Record<string, string>> = {
	'completion-complete': prompts,
	'json-schema-2020-12': tool,
	'prompts-get-embedded-resource': prompts,
	'prompts-get-simple': prompts,
	'prompts-get-with-args': prompts,
	'prompts-get-with-image': prompts,
	'prompts-list': prompts,
	'resources-list': resources,
	'resources-read-binary': resources,
	'resources-read-text': resources,
	'resources-templates-read': resources,
	'tools-call-audio': tool,
	'tools-call-embedded-resource': tool,
	'tools-call-error': tool,
	'tools-call-image': tool,
	'tools-call-mixed-content': tool,
	'tools-call-simple-text': tool,
	'tools-call-with-progress': tool,
};

interface Revision {
	/** Scenarios that do not apply, or of which only some checks do, and why. */
	readonly missed: Readonly<Record<string, string>>;
	/** The checks that are missed in a scenario of which the others have to pass. */
	readonly partly: Readonly<Record<string, readonly string[]>>;
	/** Scenarios of which no check may fail. The one about sessions skips itself. */
	readonly passed: readonly string[];
}

const revisions: Readonly<Record<string, Revision>> = {
	'2025-11-25': {
		missed: {
			...neverApplies,
			'elicitation-sep1034-defaults': inputs,
			'elicitation-sep1330-enums': inputs,
			'logging-set-level': events,
			'resources-subscribe': resources,
			'resources-unsubscribe': resources,
			'server-sse-multiple-streams': events,
			'server-sse-polling': events,
			'tools-call-elicitation': inputs,
			'tools-call-sampling': inputs,
			'tools-call-with-logging': events,
		},
		partly: {},
		passed: [
			'dns-rebinding-protection',
			'ping',
			'server-initialize',
			'server-session-lifecycle',
			'tools-list',
		],
	},
	'2026-07-28': {
		missed: {
			...neverApplies,
			caching: 'also asks for prompts and resources',
			'http-custom-header-server-validation': 'needs a tool with arguments in headers',
			'input-required-result-basic-elicitation': inputs,
			'input-required-result-basic-list-roots': inputs,
			'input-required-result-basic-sampling': inputs,
			'input-required-result-capability-check': inputs,
			'input-required-result-ignore-extra-params': inputs,
			'input-required-result-missing-input-response': inputs,
			'input-required-result-multi-round': inputs,
			'input-required-result-multiple-input-requests': inputs,
			'input-required-result-non-tool-request': inputs,
			'input-required-result-request-state': inputs,
			'input-required-result-result-type': inputs,
			'input-required-result-tampered-state': inputs,
			'sep-2164-resource-not-found': resources,
			'server-stateless': `also ${events}, and ${tool}`,
		},
		partly: {
			caching: [
				'sep-2549-prompts-list-caching-hints',
				'sep-2549-resources-list-caching-hints',
				'sep-2549-resources-templates-list-caching-hints',
			],
			'server-stateless': [
				'sep-2575-http-server-no-independent-requests-on-stream',
				'sep-2575-missing-capability-http-400',
				'sep-2575-server-no-log-without-loglevel',
				'sep-2575-server-rejects-undeclared-capability',
				'sep-2575-server-sends-subscription-ack',
				'sep-2575-server-tags-subscription-id',
			],
		},
		passed: [
			'dns-rebinding-protection',
			'http-header-validation',
			'input-required-result-unsupported-methods',
			'input-required-result-validate-input',
			'server-sse-multiple-streams',
			'tools-list',
		],
	},
};

/** What the sign-in may offer, but does not, and why. */
const notOffered: Readonly<Record<string, string>> = {
	'authorization-server-metadata-cimd': 'needs the web page of an app. The sandbox works offline',
};

interface Check {
	id: string;
	status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
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

it.each(Object.entries(revisions))(
	'the connector conforms to MCP %s, apart from what it does not have',
	async (revision, { missed, partly, passed }) => {
		const folder = outputFolder(`conformance-${revision}`);
		await rm(folder, { recursive: true, force: true });
		const proxy = await withKey();
		try {
			// The timeout only ends a scenario that hangs.
			const output = ['--timeout', '300000', '-o', folder];
			const options = ['--suite', 'all', '--spec-version', revision, ...output];
			await runConformance(['server', '--url', `${proxy.url}/mcp`, ...options]);
		} finally {
			await proxy.end();
		}
		const scenarios = await checksIn(folder, 'server');
		expect([...scenarios.keys()].sort()).toEqual([...Object.keys(missed), ...passed].sort());
		const wrong = [...scenarios].filter(([, checks]) => checks.some(isMissed));
		expect(wrong.map(([name]) => name).sort()).toEqual(Object.keys(missed).sort());
		for (const [name, ids] of Object.entries(partly)) {
			const found = scenarios.get(name)?.filter(isMissed) ?? [];
			expect([name, found.map(({ id }) => id).sort()]).toEqual([name, ids]);
		}
		// Also what does not apply is rejected as MCP requires: every message follows its schema.
		const messages = [...scenarios.values()].flat().filter(({ id }) => id === 'wire-schema-valid');
		expect(messages.length).toBeGreaterThan(20);
		expect(messages.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
	},
);

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
	expect(all.filter(isMissed).map(({ id }) => id)).toEqual(Object.keys(notOffered));
	for (const [name, checks] of scenarios) {
		expect([name, checks.some(({ status }) => status === 'SUCCESS')]).toEqual([name, true]);
	}
});

function isMissed({ status }: Check): boolean {
	return status === 'FAILURE' || status === 'WARNING';
}

async function freePort(): Promise<{ port: string; end: () => Promise<void> }> {
	const server = createServer();
	const { port } = new URL(await listen(server, '127.0.0.1', 0));
	return { port, end: async () => await close(server) };
}

/**
 * What n8n's OpenTelemetry module sends to a collector. The attributes of a node are on its span with an Enterprise
 * license only; without one, n8n keeps them with the execution.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, trigger } from './support/workflows';

let collector: Server;
let stage: Stage;
const received: Buffer[] = [];
/** The spans as OTLP sends them: names and values are readable in it. */
const spans = () => Buffer.concat(received).toString('latin1');

beforeAll(async () => {
	collector = createServer((request, response) => {
		request.on('data', (chunk: Buffer) => received.push(chunk));
		request.on('end', () => response.end());
	});
	collector.listen(0, '127.0.0.1');
	await once(collector, 'listening');
	const { port } = collector.address() as AddressInfo;
	stage = await Stage.open({
		name: 'traces',
		env: {
			N8N_OTEL_ENABLED: 'true',
			N8N_OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
			N8N_OTEL_TRACES_PRODUCTION_ONLY: 'false',
			N8N_LOG_LEVEL: 'debug',
		},
	});
});
afterAll(async () => {
	await stage?.close();
	collector.closeAllConnections();
	collector.close();
});

it('a step is a span of its own, and neither it nor the log has a prompt, URL or key', async () => {
	stage.sandbox.faults.order({
		on: 'create',
		action: { kind: 'error', code: 'CONCURRENCY_LIMIT_REACHED' },
	});
	const workflow = await stage.save(byHand('Traced', ['A secret harbor'], imageNode()));
	const execution = await stage.executions.ended(await stage.executions.run(workflow, trigger));
	expect(execution.status).toBe('success');
	await until('the span has arrived', () => spans().includes('n8n-nodes-media-generation.image'));
	const { output } = stage.n8n.service;
	expect(output).toContain('was answered with 429 CONCURRENCY_LIMIT_REACHED');
	for (const text of [spans(), output]) {
		expect(text).not.toContain('A secret harbor');
		expect(text).not.toContain('X-Amz');
		expect(text).not.toContain(stage.sandbox.keys.main);
	}
});

it('its attributes are in the data of the execution', async () => {
	const workflow = await stage.save(byHand('Attributes', ['A harbor'], imageNode()));
	const id = await stage.executions.run(workflow, trigger);
	const execution = await stage.executions.ended(id);
	expect(JSON.stringify(execution)).toContain('"gen_ai.operation.name":"image_generation"');
	expect(JSON.stringify(execution)).toContain('"media.generations.created":1');
});

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkflowFile } from '../n8n/rest';
import type { Owner, Rest, WorkflowFile } from '../n8n/rest';
import { Trouble } from '../trouble';

/** Who owns an n8n that is only for trying things. It listens on this machine alone. */
export const owner: Owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** What the example workflows look for: the names of their credentials, and the address of the service in them. */
const credentialName = 'Media Generation account';
const connectorName = 'Media Generation connector';
const signInName = 'Media Generation sign-in';
const exampleAddress = 'https://api.example.com';

/** A workflow in n8n. */
export interface Seeded {
	id: string;
	name: string;
}

/**
 * Makes an n8n ready to use: its owner, credentials for the sandbox, and every example that is not
 * there yet. What the user has changed stays as it is.
 */
export async function seed(
	rest: Rest,
	examples: string,
	service: { baseUrl: string; apiKey: string },
): Promise<Seeded[]> {
	await signIn(rest);
	const { baseUrl, apiKey } = service;
	const credentials = [
		await rest.saveCredential(credentialName, 'mediaGenerationApi', service),
		await rest.saveCredential(connectorName, 'httpBearerAuth', { token: apiKey }),
		await rest.saveCredential(signInName, 'mcpOAuth2Api', {
			useDynamicClientRegistration: true,
			serverUrl: `${baseUrl}/mcp`,
		}),
	];
	const present = await rest.workflows();
	const files = (await readdir(examples)).filter((name) => name.endsWith('.json')).sort();
	const seeded: Seeded[] = [];
	for (const name of files) {
		const file = withAddress(await readWorkflowFile(join(examples, name)), baseUrl);
		const known = present.find((workflow) => workflow.name === file.name);
		seeded.push(known ?? (await rest.createWorkflow(file, ...credentials)));
	}
	return seeded;
}

function withAddress(file: WorkflowFile, address: string): WorkflowFile {
	return JSON.parse(JSON.stringify(file).replaceAll(exampleAddress, address)) as WorkflowFile;
}

async function signIn(rest: Rest): Promise<void> {
	try {
		await rest.signIn(owner);
	} catch (error) {
		throw new Trouble(
			`Its owner cannot sign in: was the password changed? Remove the folder of its data, or ` +
				`choose another one with --data.\n\n${(error as Error).message}`,
		);
	}
}

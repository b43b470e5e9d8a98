import type { Owner, Rest } from '../n8n/rest';
import { Trouble } from '../trouble';
import type { StandInAccount } from '../stand-ins';
import { credentialTypes, readExamples } from './examples';
import type { Surroundings } from './examples';

/** The owner account of the trial n8n, which only listens on this machine. */
export const owner: Owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** The names of the credentials in the example workflows. */
export const credentialName = 'Media Generation account';
const connectorName = 'Media Generation connector';
export const clientsName = 'MCP clients';
export const signInName = 'Media Generation sign-in';

/** A workflow in n8n. */
export interface Seeded {
	id: string;
	name: string;
	/** The credentials of the stand-ins that it uses, such as "S3 stand-in". */
	standIns: string[];
}

/**
 * Sets up an n8n: its owner, credentials for the sandbox and the stand-ins, and every example that is missing. Keeps
 * the user's changes.
 */
export async function seed(
	rest: Rest,
	examples: string,
	service: Surroundings & { apiKey: string },
	standIns: StandInAccount[],
): Promise<Seeded[]> {
	await signIn(rest);
	const { baseUrl, apiKey } = service;
	const credentials = [
		await rest.saveCredential(credentialName, 'mediaGenerationApi', { baseUrl, apiKey }),
		await rest.saveCredential(connectorName, 'httpBearerAuth', { token: apiKey }),
		await rest.saveCredential(clientsName, 'httpBearerAuth', { token: owner.password }),
		await rest.saveCredential(signInName, 'mcpOAuth2Api', {
			useDynamicClientRegistration: true,
			serverUrl: `${baseUrl}/mcp`,
		}),
	];
	for (const { name, type, data } of standIns) {
		credentials.push(await rest.saveCredential(name, type, data));
	}
	const present = await rest.workflows();
	const seeded: Seeded[] = [];
	for (const file of await readExamples(examples, service)) {
		const known = present.find((workflow) => workflow.name === file.name);
		const { id, name } = known ?? (await rest.createWorkflow(file, ...credentials));
		const types = credentialTypes(file);
		const used = standIns.filter(({ type }) => types.has(type));
		seeded.push({ id, name, standIns: used.map((standIn) => standIn.name) });
	}
	return seeded;
}

async function signIn(rest: Rest): Promise<void> {
	try {
		await rest.signIn(owner);
	} catch (error) {
		throw new Trouble(
			'n8n rejected the sign-in of its owner. Was the password changed? Delete the data folder, or choose ' +
				`another with --data.\n\n${(error as Error).message}`,
		);
	}
}

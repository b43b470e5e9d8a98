import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkflowFile } from '../n8n/rest';
import type { Owner, Rest } from '../n8n/rest';
import { Trouble } from '../demo/trouble';

/** Who owns an n8n that is only for trying things. It listens on this machine alone. */
export const owner: Owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** The name that the example workflows look for. */
const credentialName = 'Media Generation account';

/** A workflow in n8n. */
export interface Seeded {
	id: string;
	name: string;
}

/**
 * Makes an n8n ready to use: its owner, a credential for the sandbox, and every example that is not
 * there yet. What the user has changed stays as it is.
 */
export async function seed(
	rest: Rest,
	examples: string,
	service: { baseUrl: string; apiKey: string },
): Promise<Seeded[]> {
	await signIn(rest);
	const credential = await rest.saveCredential(credentialName, 'mediaGenerationApi', service);
	const present = await rest.workflows();
	const files = (await readdir(examples)).filter((name) => name.endsWith('.json')).sort();
	const seeded: Seeded[] = [];
	for (const name of files) {
		const file = await readWorkflowFile(join(examples, name));
		const known = present.find((workflow) => workflow.name === file.name);
		seeded.push(known ?? (await rest.createWorkflow(file, credential)));
	}
	return seeded;
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

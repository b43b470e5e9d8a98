import { credentialName, owner, signInName } from './seed';
import type { Started } from './start';

/** What `banner` shows of everything that runs. */
type Shown = Pick<Started, 'workflows'> & {
	n8n: Pick<Started['n8n'], 'url'>;
	sandbox: Pick<Started['sandbox'], 'url' | 'keys'>;
};

/**
 * What a user reads once everything runs.
 *
 * @param data the folder that everything is kept in
 */
export function banner({ n8n, sandbox, workflows }: Shown, data: string): string {
	const width = Math.max(...workflows.map(({ name }) => name.length));
	const examples = workflows.map(({ id, name, accounts }) => {
		const needs = accounts.length === 0 ? '' : `  needs: ${accounts.join(', ')}`;
		return `  ${name.padEnd(width)}  ${n8n.url}/workflow/${id}${needs}`;
	});
	return `
n8n      ${n8n.url}
         sign in as ${owner.email} with the password ${owner.password}
Sandbox  ${sandbox.url}  what it has created and charged, and all keys

To create a credential of the type "Media Generation API" yourself, enter
  Base URL  ${sandbox.url}
  API key   ${sandbox.keys.main}

Examples
${examples.join('\n')}

An example without "needs" runs as it is, with made-up credits: its credential "${credentialName}" is ready.
"${signInName}" is yours to connect: open it in n8n, click Connect, and allow it.
Everything is kept in ${data}. Press Ctrl+C to stop everything.`;
}

import type { StandInAccount } from '../stand-ins';
import { clientsName, credentialName, owner, signInName } from './seed';
import type { Started } from './start';

/** The running services that `banner` shows. */
type Shown = Pick<Started, 'workflows' | 'https'> & {
	n8n: Pick<Started['n8n'], 'url'>;
	sandbox: Pick<Started['sandbox'], 'url' | 'keys'>;
	standIns: Array<Pick<StandInAccount, 'name' | 'about'>>;
};

/**
 * Returns the text that the user sees once everything is running.
 *
 * @param data the folder of all data
 */
export function banner({ n8n, sandbox, workflows, standIns, https }: Shown, data: string): string {
	const width = Math.max(...[...workflows, ...standIns].map(({ name }) => name.length));
	const line = (name: string, text: string) => `  ${name.padEnd(width)}  ${text}`;
	const examples = workflows.map(({ id, name, standIns: used }) => {
		const uses = used.length === 0 ? '' : `  uses the ${used.join(', ')}`;
		return line(name, `${n8n.url}/workflow/${id}${uses}`);
	});
	return `
n8n      ${n8n.url}
         sign in as ${owner.email} with the password ${owner.password}
Sandbox  ${sandbox.url}  what it has created and charged, and all API keys

To create a credential of the type "Media Generation API" yourself, enter
  Base URL  ${sandbox.url}
  API Key   ${sandbox.keys.main}

Examples
${examples.join('\n')}

They run with made-up credits and the credential "${credentialName}", which is ready.
One needs a click first: open the credential "${signInName}" in n8n, click Connect, and click Allow.
The credential "${clientsName}" has the token ${owner.password}, for clients of the MCP server.

To see a failure, write one of these into a prompt. The sandbox's page lists all of them.
  [fail: reason]   the generation fails for this reason, and is refunded
  [seconds: 90]    the generation takes 90 seconds
  [reject: CODE]   the request is rejected, for example with insufficient_credits

${filesByUrl(https)}

Other services that run on this machine, so that you need no account
${standIns.map(({ name, about }) => line(name, about)).join('\n')}

n8n can save files in ${data}/files, with the node Read/Write Files from Disk (enter its full path).
The data of n8n and of the sandbox is kept in ${data} for the next start.
To delete it, use npm start -- --forget. To stop everything, press Ctrl+C.`;
}

/** Says whether the service can fetch files from n8n. */
function filesByUrl(https: string | null): string {
	return https === null
		? 'A video from a file (Input Image: Binary Field) needs an https address of n8n. To get one: npm start -- --https'
		: `The sandbox fetches files of items from ${https}\nIts certificate is self-signed, and its key is public. For webhooks and forms, continue once, do not import it.`;
}

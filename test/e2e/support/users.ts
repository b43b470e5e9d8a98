import { Rest } from '../../../tools/n8n/rest';
import type { Owner } from '../../../tools/n8n/rest';

/** The owner of every n8n that the tests start. */
export const owner: Owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** Creates a user in an n8n, with a project of their own and without rights to what belongs to others. */
export async function invite(url: string, name: string): Promise<Owner> {
	const user = { email: `${name}@example.com`, password: owner.password };
	const rest = new Rest(url);
	await rest.signIn(owner);
	const invitation = [{ email: user.email, role: 'global:member' }];
	type Invited = Array<{ user: { inviteAcceptUrl: string } }>;
	const [invited] = await rest.send<Invited>('POST', '/invitations', invitation);
	const token = new URL(invited.user.inviteAcceptUrl).searchParams.get('token');
	const { password } = user;
	const names = { firstName: 'Other', lastName: 'Author' };
	await new Rest(url).send('POST', '/invitations/accept', { token, password, ...names });
	return user;
}

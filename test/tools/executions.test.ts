import { stringify } from '../../tools/flatted';
import { Executions } from '../../tools/n8n/executions';
import type { Rest } from '../../tools/n8n/rest';

it('a retry is found beside the short-lived execution of a helper workflow, which n8n lists but no longer has', async () => {
	const execution = (retryOf: string | null) => ({ workflowId: 'w', retryOf, data: stringify({}) });
	const stored: Record<string, object | undefined> = { 1: execution(null) };
	let retried = false;
	const send = async (method: string, path: string) => {
		if (method === 'POST') {
			retried = true;
			stored[3] = execution('1');
			return {};
		}
		if (!path.startsWith('/executions?')) return stored[path.replace('/executions/', '')];
		return { results: (retried ? ['1', '2', '3'] : ['1']).map((id) => ({ id })) };
	};
	expect(await new Executions({ send } as unknown as Rest).retry('1')).toBe('3');
});

import type { INodeExecutionData } from 'n8n-workflow';

import type { Ran } from './records';

/** What an expression can refer to. */
export interface Scope {
	item: INodeExecutionData | undefined;
	/** The nodes that have run. */
	runData: Record<string, Ran[]>;
}

type Compiled = (
	$json: unknown,
	$: (node: string) => { all: () => INodeExecutionData[] },
) => unknown;

const compiled = new Map<string, Compiled>();

/** Evaluates the expressions in a parameter, as n8n does, as far as the tests use them. */
export function evaluated(value: unknown, scope: Scope): unknown {
	if (typeof value === 'string')
		return value.startsWith('=') ? textOf(value.slice(1), scope) : value;
	if (Array.isArray(value)) return value.map((one) => evaluated(one, scope));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, one]) => [name, evaluated(one, scope)]),
	);
}

/** Evaluates a text with expressions in braces. A single expression keeps the type of its value. */
export function textOf(text: string, scope: Scope): unknown {
	const single = /^\{\{([^]*)\}\}$/.exec(text);
	if (single && !single[1].includes('{{')) return run(single[1], scope);
	return text.replace(/\{\{([^]*?)\}\}/g, (_, expression: string) =>
		String(run(expression, scope) ?? ''),
	);
}

function run(expression: string, { item, runData }: Scope): unknown {
	let code = compiled.get(expression);
	if (!code) {
		code = new Function('$json', '$', `return (${expression})`) as Compiled;
		compiled.set(expression, code);
	}
	return code(item?.json ?? {}, (node) => ({
		all: () => runData[node]?.at(-1)?.data.main[0] ?? [],
	}));
}

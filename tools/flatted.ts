import { createRequire } from 'node:module';

/** The form of JSON in which n8n stores executions. It keeps shared references. Resolved from n8n-core's own folder. */
export const { parse, stringify } = createRequire(require.resolve('n8n-core'))('flatted') as {
	parse: (text: string) => unknown;
	stringify: (value: unknown) => string;
};

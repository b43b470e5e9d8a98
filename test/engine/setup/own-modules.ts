import { createRequire } from 'node:module';

/** Given by the environment of the engine tests. */
declare function loadOursWith(load: (file: string) => unknown): void;

/** Before each test file: n8n's loader of packages gets the nodes as this file's modules do. */
loadOursWith(createRequire(__filename));

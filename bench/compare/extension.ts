import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

const source = join(__dirname, 'extension', 'SequentialVideo.node.ts');

/** The type of the node. n8n adds the prefix for custom extensions. */
export const sequentialType = 'CUSTOM.sequentialVideo';

/** Compiles the node that only this comparison uses into a folder for `N8N_CUSTOM_EXTENSIONS`. */
export async function buildExtension(folder: string): Promise<void> {
	const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 };
	const { outputText } = transpileModule(await readFile(source, 'utf8'), { compilerOptions });
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, 'SequentialVideo.node.js'), outputText);
}

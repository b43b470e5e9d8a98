import { basename, dirname } from 'node:path';

import { createCanvas, loadImage } from '@napi-rs/canvas';

const packageName = 'n8n-nodes-media-generation';
const maximumIconBytes = 1500;
const iconPixels = 24;

/** Categories of n8n's node panel. It does not list a node under any other name. */
const categories = ['Marketing & Content', 'Utility'];
const jsonTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

function demand(condition, message) {
	if (!condition) throw new Error(message);
}

async function paintedShare(svg) {
	const sized = svg.replace('<svg ', `<svg width="${iconPixels}" height="${iconPixels}" `);
	const image = await loadImage(Buffer.from(sized));
	const context = createCanvas(iconPixels, iconPixels).getContext('2d');
	context.drawImage(image, 0, 0, iconPixels, iconPixels);
	const { data } = context.getImageData(0, 0, iconPixels, iconPixels);
	const painted = data.filter((value, index) => index % 4 === 3 && value > 0).length;
	return painted / (iconPixels * iconPixels);
}

/**
 * Checks that an icon is square, small and self-contained, and is visible at the size of the node panel.
 *
 * @param {string} _path
 * @param {string} svg
 */
export async function checkIcon(_path, svg) {
	demand(/^<svg [^>]*viewBox="0 0 60 60"/.test(svg), 'the root is not <svg viewBox="0 0 60 60">');
	demand(svg.length < maximumIconBytes, `is larger than ${maximumIconBytes} bytes`);
	demand(!/<script|<image|href=|url\(/.test(svg), 'refers to something outside itself');
	const share = await paintedShare(svg);
	demand(share > 0.15 && share < 0.85, `paints ${Math.round(share * 100)} % of its square`);
}

/**
 * Checks that a codex file names its node and has everything that n8n needs to use the file.
 *
 * @param {string} path
 * @param {string} text
 */
export function checkCodex(path, text) {
	const codex = JSON.parse(text);
	const folder = basename(dirname(path));
	const name = folder[0].toLowerCase() + folder.slice(1);
	demand(codex.node === `${packageName}.${name}`, `"node" is not ${packageName}.${name}`);
	demand(codex.nodeVersion && codex.codexVersion, 'lacks nodeVersion or codexVersion');
	demand(codex.categories?.length > 0, 'lacks categories');
	const unknown = codex.categories.filter((category) => !categories.includes(category));
	demand(unknown.length === 0, `unknown categories: ${unknown.join(', ')}`);
	for (const key of ['primaryDocumentation', 'credentialDocumentation']) {
		// Without `resources`, n8n silently ignores the whole file.
		demand(codex.resources?.[key]?.[0]?.url, `lacks resources.${key}[0].url`);
	}
	// n8n may soon forbid these for community nodes: its panel treats the category AI and its subcategories
	// differently.
	demand(!codex.subcategories, 'has subcategories');
}

function checkSchemaNode(schema, path) {
	const types = [schema.type].flat();
	demand(
		types.length > 0 && types.every((type) => jsonTypes.includes(type)),
		`${path} has no valid type`,
	);
	if (types[0] === 'array') checkSchemaNode(schema.items ?? {}, `${path}[]`);
	if (types[0] !== 'object') return;
	const properties = schema.properties ?? {};
	for (const key of schema.required ?? []) {
		demand(key in properties, `${path} requires ${key}, but does not describe it`);
	}
	for (const [key, value] of Object.entries(properties)) checkSchemaNode(value, `${path}.${key}`);
}

/**
 * Checks that an output schema describes an item like those of n8n's built-in nodes.
 *
 * @param {string} path
 * @param {string} text
 */
export function checkSchema(path, text) {
	const schema = JSON.parse(text);
	const place = path.split('__schema__').at(-1).replaceAll('\\', '/');
	demand(/^\/v\d+\.\d+\.\d+(\/\w+){0,2}\.json$/.test(place), 'is where n8n does not look');
	demand(schema.type === 'object', 'does not describe an object');
	demand(Object.keys(schema.properties ?? {}).length > 0, 'describes no properties');
	demand(Number.isInteger(schema.version), 'lacks a version');
	checkSchemaNode(schema, 'item');
}

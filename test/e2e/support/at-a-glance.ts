import type { Locator, Page } from 'playwright-core';
import type { WorkflowFile } from '../../../tools/n8n/rest';

/** What this file uses of a node. */
interface Placed {
	name: string;
	type: string;
	position: [number, number];
}
type Outputs = Record<string, Array<Array<{ node: string }>>>;

const size = { node: 96, label: 72, title: 80, gap: 48 };

/**
 * Returns one workflow that shows several in two columns, each in a frame with its name. It is only looked at: nodes of
 * the same name get different numbers of blanks.
 */
export function atAGlance(files: WorkflowFile[]): WorkflowFile {
	const nodes: unknown[] = [];
	const connections: Record<string, Outputs> = {};
	const widest = Math.max(...files.map((file) => frameOf(stepsOf(file)).width));
	const columns = [0, 0];
	for (const [index, file] of files.entries()) {
		const steps = stepsOf(file);
		const { left, highest, height } = frameOf(steps);
		const column = columns[0] <= columns[1] ? 0 : 1;
		const [start, top] = [column * (widest + size.gap), columns[column]];
		const named = (name: string) => name + ' '.repeat(index);
		nodes.push({
			...{ id: `frame-${index}`, name: `Frame ${index}`, type: 'n8n-nodes-base.stickyNote' },
			...{ typeVersion: 1, position: [start, top] },
			parameters: { content: `## ${file.name}`, width: widest, height, color: 7 },
		});
		for (const step of steps) {
			const [x, y] = step.position;
			const position = [x - left + start + size.gap, y - highest + top + size.title];
			nodes.push({ ...step, id: `${index} ${step.name}`, name: named(step.name), position });
		}
		for (const [name, outputs] of Object.entries(file.connections as Record<string, Outputs>)) {
			const renamed = Object.entries(outputs).map(([type, each]) => [
				type,
				each.map((to) => to.map((one) => ({ ...one, node: named(one.node) }))),
			]);
			connections[named(name)] = Object.fromEntries(renamed) as Outputs;
		}
		columns[column] += height + size.gap;
	}
	return { name: 'At a Glance', nodes, connections, settings: {} };
}

function stepsOf({ nodes }: WorkflowFile): Placed[] {
	return (nodes as Placed[]).filter(({ type }) => !type.endsWith('.stickyNote'));
}

/** Returns the frame around nodes: its place, and its size with room for a title, the labels and the last plus. */
function frameOf(steps: Placed[]) {
	const [xs, ys] = [0, 1].map((axis) => steps.map(({ position }) => position[axis]));
	const left = Math.min(...xs);
	const highest = Math.min(...ys);
	return {
		left,
		highest,
		width: Math.max(...xs) - left + 2 * size.node + size.gap,
		height: size.title + Math.max(...ys) - highest + size.node + size.label,
	};
}

/** Returns the part of the page that has all of these nodes of the canvas. */
export async function partWith(page: Page, nodes: Locator): Promise<Pick<Locator, 'screenshot'>> {
	const boxes = await Promise.all(
		(await nodes.all()).map(async (node) => await node.boundingBox()),
	);
	const shown = boxes.flatMap((box) => box ?? []);
	const x = Math.min(...shown.map((box) => box.x));
	const y = Math.min(...shown.map((box) => box.y));
	const clip = {
		...{ x, y },
		width: Math.max(...shown.map((box) => box.x + box.width)) - x,
		height: Math.max(...shown.map((box) => box.y + box.height)) - y,
	};
	return { screenshot: async (options) => await page.screenshot({ ...options, clip }) };
}

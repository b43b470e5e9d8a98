/** Path of the script that keeps a page up to date. */
export const liveScriptPath = '/_sandbox/page.js';

/**
 * Refetches the page at intervals and replaces only the parts that have changed, so that a video keeps playing and the
 * scroll position stays. Parts are the elements with `data-live`. In a `keyed` one, each child is a part.
 */
export const liveScript = `
const refreshMs = 1500;

function exchangeChildren(shown, fresh) {
	const wanted = new Map([...fresh.children].map((child) => [child.id, child]));
	for (const child of [...shown.children]) {
		const next = wanted.get(child.id);
		if (!next) child.remove();
		else if (child.isEqualNode(next)) wanted.set(child.id, child);
		else child.replaceWith(next);
	}
	[...wanted.values()].forEach((child, index) => {
		const present = shown.children[index];
		if (present !== child) shown.insertBefore(child, present ?? null);
	});
}

async function refresh() {
	if (document.hidden) return;
	const answer = await fetch(location.href);
	const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
	for (const fresh of page.querySelectorAll('[data-live]')) {
		const shown = document.getElementById(fresh.id);
		if (!shown || shown.isEqualNode(fresh)) continue;
		if (fresh.dataset.live === 'keyed') exchangeChildren(shown, fresh);
		else shown.replaceWith(fresh);
	}
}

async function refreshForEver() {
	for (;;) {
		await new Promise((resolve) => setTimeout(resolve, refreshMs));
		// The sandbox may be restarting.
		await refresh().catch(() => undefined);
	}
}

document.addEventListener('click', async ({ target }) => {
	const text = target.dataset?.copy;
	if (!text) return;
	await navigator.clipboard.writeText(text);
	target.textContent = 'Copied';
	setTimeout(() => (target.textContent = 'Copy'), 1500);
});

void refreshForEver();
`;

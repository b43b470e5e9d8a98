/** The style of every page. It supports light and dark mode, and phones and larger screens. */
export const style = `
	:root { color-scheme: light dark; --ink: #1c2333; --quiet: #5d6579; --page: #f5f6fa; --card: #fff; --line: #dfe3ec;
		--accent: #4a4fd0; --on-accent: #fff; --good: #137a3f; --bad: #b3261e; --busy: #8a5a00; }
	@media (prefers-color-scheme: dark) {
		:root { --ink: #e6e9f2; --quiet: #a0a8bc; --page: #12151d; --card: #1b202b; --line: #323a4a;
			--accent: #a9b1ff; --on-accent: #14172b; --good: #6fd69b; --bad: #ff9b91; --busy: #f0c069; }
	}
	* { box-sizing: border-box; }
	body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 84rem; padding: 0 1rem;
		color: var(--ink); background: var(--page); }
	h1 { font-size: 1.4rem; margin: 0 0 .3rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
	a { color: var(--accent); } .quiet { color: var(--quiet); } code { font-size: .85em; overflow-wrap: anywhere; }
	.wide code { overflow-wrap: normal; }
	.scroll { overflow-x: auto; }
	table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); }
	th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
	th { color: var(--quiet); font-weight: 600; font-size: .85em; }
	td { font-variant-numeric: tabular-nums; }
	.wide { white-space: nowrap; }
	@media (max-width: 45rem) { th, td { padding: .3rem .35rem; font-size: .9em; } .stack tr:first-child { display: none; } .stack td { display: block; }
		.stack td:not(:last-child) { border-bottom: 0; padding-bottom: 0; }
		.stack td::before { content: attr(data-head); display: block; color: var(--quiet); font-size: .85em; } }
	td form { display: inline-block; margin: .1rem .5rem .1rem 0; }
	input, select, button { font: inherit; padding: .25rem .7rem; color: inherit; background: var(--card);
		border: 1px solid var(--line); border-radius: .4rem; }
	button { cursor: pointer; } button:hover { border-color: var(--accent); }
	button[data-copy] { padding: .05rem .5rem; font-size: .85em; }
	button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
	:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
	input[type=number] { width: 6rem; margin-right: .4rem; }
	.completed { color: var(--good); } .failed { color: var(--bad); } .pending, .processing { color: var(--busy); }
	.desk { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 1fr); }
	@media (min-width: 60rem) { .desk { grid-template-columns: minmax(0, 1fr) 26rem; }
		aside { font-size: .92em; } aside th, aside td { padding: .25rem .55rem; } }
	.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); }
	.cards > p { grid-column: 1 / -1; margin: 0; }
	.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden; margin: 0; }
	.card img, .card video, .blank { display: block; width: 100%; aspect-ratio: 4 / 3; object-fit: contain;
		background: var(--page); }
	.blank { display: grid; place-items: center; text-align: center; padding: 1rem; }
	.card figcaption { padding: .6rem .8rem .7rem; font-size: .87em; }
	.prompt { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden;
		font-weight: 600; overflow-wrap: anywhere; }
	.facts { display: grid; grid-template-columns: auto auto; background: var(--card); border: 1px solid var(--line);
		margin: 0; padding: .4rem .7rem; }
	.facts dt { color: var(--quiet); } .facts dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }`;

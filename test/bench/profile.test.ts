import { sharesOf } from '../../bench/profile';

it('says whose code had the time', () => {
	const frame = { scriptId: '', lineNumber: 0, columnNumber: 0 };
	const node = (id: number, functionName: string, url: string) => ({
		id,
		callFrame: { ...frame, functionName, url },
	});
	const shares = sharesOf({
		nodes: [
			node(1, '(idle)', ''),
			node(2, 'download', 'file:///x/dist/nodes/shared/download.js'),
			node(3, 'request', 'file:///x/node_modules/axios/index.js'),
			node(4, 'read', 'node:internal/streams/readable'),
			node(5, '(program)', ''),
		],
		startTime: 0,
		endTime: 100,
		samples: [1, 2, 3, 4, 5, 1],
		timeDeltas: [30, 5, 10, 15, 20, 20],
	});
	expect(shares).toEqual({
		'waiting for network and disk': 0.5,
		'this package': 0.05,
		'n8n and its HTTP client': 0.1,
		'Node.js, its streams and sockets': 0.15,
		'system calls and native code': 0.2,
		'collecting garbage': 0,
	});
});

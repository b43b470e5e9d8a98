import { wallClock } from '../../nodes/shared/http/clock';
import { wakeWave } from './asleep';
import { items, openKeyedStage } from './keyed';

const { stage, tables, execute } = openKeyedStage();

const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend' },
};

it('a wave does not end before the crash recovery of an n8n that has just started', async () => {
	let run = await execute(items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']), parameters);
	run = await wakeWave(stage, run);
	stage.leap(600);
	let refusals = 1;
	tables.before = () => {
		if (refusals-- > 0) throw new Error('The module is disabled');
	};
	const woken = wallClock.now();
	await wakeWave(stage, run);
	expect((wallClock.now() - woken) / 1000).toBeGreaterThan(20);
});

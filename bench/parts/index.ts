import type { Part } from '../part';
import { batch } from './batch';
import { bulk } from './bulk';
import { chaos, chaosAsleep } from './chaos';
import { chaosSimulated } from './chaos-simulated';
import { crash } from './crash';
import { download } from './download';
import { live } from './live';
import { price } from './price';
import { probes } from './probes';
import { proof } from './proof';
import { scale } from './scale';
import { sleep } from './sleep';
import { slots } from './slots';
import { soak } from './soak';

/** All parts, in the order in which they are measured. */
export const parts: readonly Part[] = [
	batch,
	live,
	bulk,
	scale,
	download,
	probes,
	crash,
	sleep,
	slots,
	price,
	chaos,
	chaosAsleep,
	chaosSimulated,
	soak,
	proof,
];

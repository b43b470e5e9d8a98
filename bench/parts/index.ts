import type { Part } from '../part';
import { batch } from './batch';
import { crash } from './crash';
import { download } from './download';
import { live } from './live';
import { price } from './price';
import { probes } from './probes';
import { proof } from './proof';
import { scale } from './scale';

/** Everything that can be measured, in the order in which it is. */
export const parts: readonly Part[] = [batch, live, scale, download, probes, crash, price, proof];

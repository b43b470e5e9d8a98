import { ServiceError } from '../basics/errors';
import { answer } from '../requests/reply';
import type { Reply } from '../requests/reply';
import { listModels } from './catalogue';

/** Returns the response to a request for the models (spec 4.4). Throws a `ServiceError` for an unknown type. */
export function modelsReply(type: string, timeScale: number): Reply {
	if (type !== 'all' && type !== 'image' && type !== 'video') {
		const message = 'type must be image, video or all.';
		throw new ServiceError('invalid_parameter', message, 'type');
	}
	const data = listModels(type, timeScale);
	return answer(200, { object: 'list', data }, `${data.length} models`);
}

import type { CreateRequest } from '../../../client/api/client';
import type { CollectJob, CreateJob } from '../../../client/job';
import type { DownloadTarget } from './parameters';

/** The validated parameters of one output of an item. */
export interface Plan {
	job: Omit<CreateJob, 'itemIndex' | 'recipe'> | Omit<CollectJob, 'itemIndex'>;
	/** `null`: return JSON only. */
	download: DownloadTarget | null;
	/** The request behind a generation that is only collected. Its prompt names the file. */
	draft?: CreateRequest;
	/** True if the option Idempotency Key was added but is empty. */
	keyIsEmpty?: boolean;
}

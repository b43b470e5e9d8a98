import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { describeModel, matchesModel, type ModelFilter } from '../../../client/api/catalog';
import { attempt } from '../../../client/async';
import { GenerationError } from '../../../client/api/errors';
import { ServiceClient } from '../../../client/api/client';
import { wallClock } from '../http/clock';
import { nodeError } from '../output/node-error';
import { connect } from '../http/transport';

type ListSearch = (this: ILoadOptionsFunctions, filter?: string) => Promise<INodeListSearchResult>;

/**
 * The list search of a model picker, from the live catalog (spec 4.4). @param type which models to list
 */
export function modelSearch(type: ModelFilter): ListSearch {
	return async function (filter = '') {
		const service = new ServiceClient({
			send: connect(this),
			clock: wallClock,
			random: Math.random,
			signal: new AbortController().signal,
			// A user is waiting for the list, and can open it again.
			maxRetries: 1,
		});
		const listed = await attempt(async () => await service.models(type));
		if (!listed.ok) {
			throw listed.error instanceof GenerationError
				? nodeError(this, listed.error, 0)
				: listed.error;
		}
		return {
			results: listed.value
				// Covers a service that ignores the type filter.
				.filter((model) => type === 'all' || (model.type ?? type) === type)
				.filter((model) => matchesModel(model, filter))
				.map((model) => ({ ...describeModel(model), value: model.id })),
		};
	};
}

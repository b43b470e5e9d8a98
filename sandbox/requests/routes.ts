import type { MediaType } from '../models/model';

/** The endpoint that a request to the service's origin is for (spec 4). */
export type Route =
	| { on: 'create'; type: MediaType }
	| { on: 'status'; id: string }
	| { on: 'models' }
	| { on: 'credits'; view: 'balance' | 'summary' }
	| { on: 'other' };

const fixed: Readonly<Record<string, Route>> = {
	'POST /v1/images/generations': { on: 'create', type: 'image' },
	'POST /v1/videos/generations': { on: 'create', type: 'video' },
	'GET /v1/models': { on: 'models' },
	'GET /v1/credits/balance': { on: 'credits', view: 'balance' },
	'GET /v1/credits/summary': { on: 'credits', view: 'summary' },
};

/** Returns the route for a method and a path without its query: `other` if spec 4 does not define it. */
export function routeOf(method: string, path: string): Route {
	const found = fixed[`${method} ${path}`];
	if (found) return found;
	const id = method === 'GET' && /^\/v1\/generations\/([^/]+)$/.exec(path)?.[1];
	return id ? { on: 'status', id: id } : { on: 'other' };
}

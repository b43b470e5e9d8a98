import type { AccountBook } from '../accounts/accounts';
import type { Ledger } from '../books/ledger';
import { bearerOf } from '../books/requests';
import type { FaultAction } from '../faults';
import type { MediaType } from '../models/model';
import { parseBody } from '../requests/body';
import type { ServiceRequest } from '../requests/request';
import type { Route } from '../requests/routes';
import { orderedError, standingOf } from './limits';
import { validateCreation } from './validation';

/** Returns the price of a request in credits, or that of the cheapest one if it is not valid. */
function priceOf(body: unknown, type: MediaType): number {
	try {
		return validateCreation(parseBody(body), type).credits;
	} catch {
		return 1;
	}
}

/** Completes an ordered error that has no message: some have to state numbers (spec 7, 8.1). */
export function explained(
	action: FaultAction | null,
	{ caller, headers, body }: ServiceRequest,
	route: Route,
	{ accounts, ledger, now }: { accounts: AccountBook; ledger: Ledger; now: number },
): FaultAction | null {
	if (action?.kind !== 'error' || action.message !== undefined) return action;
	const known = caller ?? accounts.findKey(bearerOf(headers.authorization) ?? '');
	const needed = route.on === 'create' ? priceOf(body, route.type) : 1;
	return {
		...action,
		message: orderedError(action.code, standingOf(ledger, known, needed, now)).message,
	};
}

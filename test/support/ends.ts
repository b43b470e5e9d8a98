import type { Outcome } from '../../client/jobs/outcome';
import type { ItemEnd } from '../../nodes/shared/output/outcomes';

/** The ends of items with one output each, in order. */
export function endsOf<T>(outcomes: Array<Outcome<T>>): Array<ItemEnd<T>> {
	return outcomes.map((outcome, itemIndex) => ({ ...outcome, itemIndex }));
}

import type { CreateJob, Readiness } from '../../../client/jobs/job';
import type { ErrorName } from '../../../sandbox/basics/errors';
import type { Breakage, ForeignAnswer } from './faults';
import type { StorageName } from './storages';

/**
 * Everything that happens to one step over all of its tries. It determines everything else, so a schedule that breaks a
 * promise breaks it every time.
 */
export interface Schedule {
	items: Item[];
	/** How many of the items in a row are the outputs of one item. */
	outputs: number;
	/** How many generations the account may have at once. */
	concurrency: number;
	/** How many seconds the generations take, in the order of their creation, and again from the start. */
	seconds: number[];
	pollSeconds: number;
	/** How the end of a generation is detected, and the behavior of the storage. */
	readiness: Readiness;
	storage: StorageName;
	tries: Try[];
	/** For the jitter. */
	seed: number;
}

export interface Item {
	type: 'image' | 'video';
	/** Several items may have the same prompt. */
	prompt: string;
}

/** One run of the whole step. */
export interface Try {
	settings: Settings;
	/** The stored orders at its start: the same object as in the previous attempt, or the copy that n8n stored. */
	journal: 'same' | 'saved';
	/** The results of the creating requests, in the order of sending. Any further ones get the usual result. */
	creates: CreateFate[];
	/** Whether every generation of the try fails. */
	failing: boolean;
	/** The results of the status requests, in the same form. */
	looks: LookFate[];
	outages: Outage[];
	/** How many generations others run on the account, and from when on. */
	load: Array<{ atSeconds: number; occupied: number }>;
	cancel: Cancel | null;
	/** The indexes of downloads that fail. */
	brokenDownloads: number[];
	/** Items whose request cannot be built in this try, and how long building the others takes. */
	brokenItems: number[];
	buildMs: number;
	/** Time from its end to the next try. */
	pauseSeconds: number;
}

export interface Settings extends Pick<CreateJob, 'onTimeout' | 'onUncertainCharge' | 'wait'> {
	retriesOnFailure: number;
	/** How many fallback models there are. */
	fallbacks: number;
	/** Maximum number of generations that the step creates; `null`: no limit. */
	maxNewGenerations: number | null;
	/** Maximum credits to spend; `null`: no limit. */
	maxCredits: number | null;
	/** Minimum balance in credits for creating generations; `null`: no limit. */
	minimumBalance: number | null;
	maxConcurrent: number;
	stopOnError: boolean;
	timeoutSeconds: number;
}

/** What the client receives for a request. */
export type Answer =
	/** The real response of the service. */
	| { kind: 'own' }
	/** A rejection by the service, which does no work. */
	| { kind: 'refusal'; code: ErrorName; retryAfter?: number }
	| { kind: 'foreign'; name: ForeignAnswer; retryAfter?: number }
	| { kind: 'none'; how: Breakage };

export interface CreateFate {
	/**
	 * Whether the service does (and charges) the work, and whether it fails later, or ends in a state that the spec does not
	 * name, without a refund.
	 */
	work: 'done' | 'fails later' | 'ends otherwise' | 'not done';
	answer: Answer;
	/** Time from sending the request to its response. */
	ms: number;
}

export interface LookFate {
	answer: Answer;
	ms: number;
}

/** A period during which every request gets the same answer. */
export interface Outage {
	fromSeconds: number;
	seconds: number;
	answer: Answer;
}

/** When the user stops the step. */
export type Cancel =
	| { when: 'seconds'; value: number }
	/** When the n-th request is sent. */
	| { when: 'request'; value: number }
	/** When the n-th response arrives. */
	| { when: 'answer'; value: number };

export const undisturbed: Omit<Try, 'settings'> = {
	journal: 'saved',
	creates: [],
	failing: false,
	looks: [],
	outages: [],
	load: [],
	cancel: null,
	brokenDownloads: [],
	brokenItems: [],
	buildMs: 0,
	pauseSeconds: 0,
};

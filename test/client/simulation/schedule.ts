import type { CreateJob, Readiness } from '../../../client/job';
import type { ErrorName } from '../../../sandbox/basics/errors';
import type { Breakage, ForeignAnswer } from './faults';
import type { StorageName } from './storages';

/**
 * All that happens to one step over all of its tries. Everything else follows from it, so a schedule that breaks a
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
	/** How ends are noticed, and the storage that is asked for outputs. */
	readiness: Readiness;
	storage: StorageName;
	tries: Try[];
	/** For the jitter. */
	seed: number;
}

export interface Item {
	type: 'image' | 'video';
	/** Several items may well ask for the same. */
	prompt: string;
}

/** One run of the whole step. */
export interface Try {
	settings: Settings;
	/** The ledger it starts with: the very object of the try before, or what n8n had saved of it. */
	ledger: 'same' | 'saved';
	/** What becomes of the creating requests, in the order of leaving; nothing befalls those beyond. */
	creates: CreateFate[];
	/** Whether every generation of the try fails. */
	failing: boolean;
	/** What becomes of the status requests, likewise. */
	looks: LookFate[];
	outages: Outage[];
	/** How many of the account's generations others have running, from when on. */
	load: Array<{ atSeconds: number; occupied: number }>;
	cancel: Cancel | null;
	/** The downloads that fail, by their order. */
	brokenDownloads: number[];
	/** Items whose request cannot be built in this try, and how long building the others takes. */
	brokenItems: number[];
	buildMs: number;
	/** How long after its end the next try begins. */
	pauseSeconds: number;
}

export interface Settings extends Pick<CreateJob, 'onTimeout' | 'onUncertainCharge' | 'wait'> {
	retriesOnFailure: number;
	/** How many fallback models there are. */
	fallbacks: number;
	/** The most generations that the step creates; `null`: no limit. */
	maxNewGenerations: number | null;
	/** Below how many credits the step creates nothing more; `null`: no limit. */
	minimumBalance: number | null;
	maxConcurrent: number;
	stopOnError: boolean;
	timeoutSeconds: number;
}

/** What the client gets to see of a request. */
export type Answer =
	/** What the service really answers. */
	| { kind: 'own' }
	/** The service's refusal, without any work. */
	| { kind: 'refusal'; code: ErrorName }
	| { kind: 'foreign'; name: ForeignAnswer }
	| { kind: 'none'; how: Breakage };

export interface CreateFate {
	/** Whether the service gets to do (and charge) the work, and what becomes of that later. */
	work: 'done' | 'fails later' | 'not done';
	answer: Answer;
	/** From the request's leaving to its answer. */
	ms: number;
}

export interface LookFate {
	answer: Answer;
	ms: number;
}

/** For a while every request meets the same. */
export interface Outage {
	fromSeconds: number;
	seconds: number;
	answer: Answer;
}

/** When the user stops the step. */
export type Cancel =
	| { when: 'seconds'; value: number }
	/** As the n-th request leaves. */
	| { when: 'request'; value: number }
	/** As the n-th answer arrives. */
	| { when: 'answer'; value: number };

export const undisturbed: Omit<Try, 'settings'> = {
	ledger: 'saved',
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

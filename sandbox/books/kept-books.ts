import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { AccountBook, Caller } from '../accounts/accounts';
import { isObject } from '../basics/fields';
import type { Generation } from '../generations/generations';
import { findModel } from '../models/catalogue';
import type { Keeper, Ledger } from './ledger';

/** A generation in the file: plain data, with names in place of its caller and its model. */
type KeptGeneration = Omit<Generation, 'caller' | 'model'> & {
	account: string;
	caller: string;
	model: string;
};
type Entry = { generation: KeptGeneration } | { undone: string };
type Line = { v: 1; secret: string } | Entry;

/** Longer texts in a request are cut, such as the data of inline inputs. */
const longestText = 2_000;

function cut(value: unknown): unknown {
	return typeof value === 'string' && value.length > longestText
		? `${value.slice(0, longestText)}…`
		: value;
}

function kept({ caller, model, ...generation }: Generation): KeptGeneration {
	const copy = {
		...generation,
		account: caller.account.name,
		caller: caller.name,
		model: model.id,
	};
	const short = JSON.parse(JSON.stringify(copy, (_, value: unknown) => cut(value))) as typeof copy;
	// A part of it would not be a picture.
	return { ...short, output: generation.output };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

function secretIn(head: unknown): string | null {
	return isObject(head) && head.v === 1 && typeof head.secret === 'string' ? head.secret : null;
}

function isEntry(line: unknown): line is Entry {
	if (!isObject(line)) return false;
	return typeof line.undone === 'string' || isObject(line.generation);
}

/** The file cannot keep the books. It was not changed. */
export class KeptBooksError extends Error {}

/**
 * Reads the file. Throws if it is not one of the sandbox, or has a damaged line: it is rewritten at the start, and so
 * would lose its content. Only the last line may be incomplete, because the program can be killed while it writes.
 */
function contentOf(file: string): { secret: string; entries: Entry[] } {
	const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
	if (text === '') return { secret: randomUUID(), entries: [] };
	const [head, ...rest] = text.split('\n');
	const secret = secretIn(parsed(head));
	if (secret === null) {
		throw new KeptBooksError(
			`${file} does not contain the books of a sandbox. It was not changed.`,
		);
	}
	// What follows the last line break is incomplete, or nothing.
	const last = parsed(rest.pop() ?? '');
	const entries: Entry[] = rest.map((written, index) => {
		const entry = parsed(written);
		if (isEntry(entry)) return entry;
		throw new KeptBooksError(`Line ${index + 2} of ${file} is damaged. The file was not changed.`);
	});
	return { secret, entries: isEntry(last) ? [...entries, last] : entries };
}

/**
 * Keeps the books in a file, so that a sandbox knows its generations after a restart. Each generation is a line, written
 * before its response is sent, and another one if it changes. States, refunds, outputs and balances follow from these.
 */
export class KeptBooks implements Keeper {
	/** Signs presigned URLs: those from before a restart stay valid. */
	readonly secret: string;
	private readonly generations = new Map<string, KeptGeneration>();

	/**
	 * @param file is created if it is missing. Its folder must exist.
	 * @throws `KeptBooksError` if it contains anything but the books of a sandbox, or cannot be read or written
	 */
	constructor(private readonly file: string) {
		try {
			const { secret, entries } = contentOf(file);
			this.secret = secret;
			for (const entry of entries) this.add(entry);
			this.rewrite();
		} catch (error) {
			if (error instanceof KeptBooksError) throw error;
			throw new KeptBooksError(`${file} cannot be used: ${(error as Error).message}.`);
		}
	}

	private add(entry: Entry): void {
		if ('undone' in entry) this.generations.delete(entry.undone);
		else this.generations.set(entry.generation.id, entry.generation);
	}

	/** Adds the kept generations to the books. */
	restore(ledger: Ledger, accounts: AccountBook): void {
		for (const { account, caller, model, ...generation } of this.generations.values()) {
			const found = { account: accounts.find(account), model: findModel(model) };
			if (!found.account || !found.model) continue;
			const owner: Caller = {
				name: caller,
				account: found.account,
				mayCreate: true,
				connection: null,
			};
			ledger.restore({
				...generation,
				...{ caller: owner, model: found.model },
				refunded: 0,
				// JSON has no Infinity: its files were still being fetched.
				finishAt: (generation.finishAt as number | null) ?? generation.processingAt,
				// The next status has a URL of the storage's present address.
				urlExpiresAt: 0,
			});
		}
	}

	write(generation: Generation): void {
		this.append({ generation: kept(generation) });
	}

	undo(id: string): void {
		this.append({ undone: id });
	}

	clear(): void {
		this.generations.clear();
		this.rewrite();
	}

	private append(line: Line): void {
		appendFileSync(this.file, `${JSON.stringify(line)}\n`);
	}

	private rewrite(): void {
		const lines: Line[] = [
			{ v: 1, secret: this.secret },
			...[...this.generations.values()].map((generation) => ({ generation })),
		];
		const draft = `${this.file}.new`;
		writeFileSync(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), {
			mode: 0o600,
		});
		renameSync(draft, this.file);
	}
}

import type { Account, Caller, Connection } from './accounts';

/** An app that may act for an account, after a sign-in (spec 2.6). */
export interface ConnectedApp extends Caller {
	readonly connection: Connection;
	/** The name that the app gives itself. */
	readonly title: string;
	/** Client ID from its OAuth registration. */
	readonly clientId: string;
	/** Milliseconds since 1970. */
	readonly connectedAt: number;
}

const usualDailyLimit = 500;

/** The connected apps of all accounts (spec 2.6, 8). */
export class ConnectedApps {
	private readonly apps = new Map<string, ConnectedApp>();
	private count = 0;

	/** Returns the app with that client ID and account. Adds it if it is new. */
	connect(clientId: string, title: string, account: Account, now: number): ConnectedApp {
		const known = this.all().find((app) => app.clientId === clientId && app.account === account);
		if (known) return known;
		const app: ConnectedApp = {
			name: `app-${++this.count}`,
			title,
			clientId,
			account,
			mayCreate: true,
			connection: { dailyLimit: usualDailyLimit, paused: false },
			connectedAt: now,
		};
		this.apps.set(app.name, app);
		return app;
	}

	/** Returns every app, in the order they were connected. */
	all(): ConnectedApp[] {
		return [...this.apps.values()];
	}

	/** Returns the app of that name. Throws if there is none. */
	app(name: string): ConnectedApp {
		const app = this.apps.get(name);
		if (!app) throw new Error(`The sandbox has no connected app "${name}".`);
		return app;
	}

	/** Returns true if the app is still connected. */
	has(app: ConnectedApp): boolean {
		return this.apps.get(app.name) === app;
	}

	/** Pauses or resumes an app, or sets its limit. Throws if there is no such app. */
	change(name: string, { paused, dailyLimit }: Partial<Connection>): void {
		const { connection } = this.app(name);
		if (dailyLimit !== undefined) {
			if (!Number.isSafeInteger(dailyLimit) || dailyLimit < 0) {
				throw new Error('The daily limit must be a whole number of credits from 0.');
			}
			connection.dailyLimit = dailyLimit;
		}
		if (paused !== undefined) connection.paused = paused;
	}

	/** Revokes the app's access immediately. Throws if there is no such app. */
	disconnect(name: string): void {
		this.apps.delete(this.app(name).name);
	}

	/** Disconnects every app. */
	clear(): void {
		this.apps.clear();
		this.count = 0;
	}
}

import type { Account, Caller, Connection } from './accounts';

/** An app that may act for an account, after a sign-in (spec 2.6). */
export interface ConnectedApp extends Caller {
	readonly connection: Connection;
	/** What it calls itself. */
	readonly title: string;
	/** Under which it is registered for signing in. */
	readonly clientId: string;
	/** Milliseconds since 1970. */
	readonly connectedAt: number;
}

/** What the owner of the account may change. */
export type ConnectionChange = Partial<Connection>;

const usualDailyLimit = 500;

/** The connected apps of all accounts (spec 2.6, 8). */
export class ConnectedApps {
	private readonly apps = new Map<string, ConnectedApp>();
	private count = 0;

	/** The app of that registration for that account: as it is, or a new one. */
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

	/** Every app, in the order of connecting. */
	all(): ConnectedApp[] {
		return [...this.apps.values()];
	}

	/** The app of that name; throws where there is none. */
	app(name: string): ConnectedApp {
		const app = this.apps.get(name);
		if (!app) throw new Error(`The sandbox has no connected app "${name}".`);
		return app;
	}

	/** Whether the app is connected still. */
	has(app: ConnectedApp): boolean {
		return this.apps.get(app.name) === app;
	}

	/** Pauses or resumes an app, or sets its limit. Throws for one that there is not. */
	change(name: string, { paused, dailyLimit }: ConnectionChange): void {
		const { connection } = this.app(name);
		if (dailyLimit !== undefined) {
			if (!Number.isSafeInteger(dailyLimit) || dailyLimit < 0) {
				throw new Error('The daily limit must be a whole number of credits from 0.');
			}
			connection.dailyLimit = dailyLimit;
		}
		if (paused !== undefined) connection.paused = paused;
	}

	/** Ends what the app may do, at once. Throws for one that there is not. */
	disconnect(name: string): void {
		this.apps.delete(this.app(name).name);
	}

	/** Disconnects all. */
	clear(): void {
		this.apps.clear();
		this.count = 0;
	}
}

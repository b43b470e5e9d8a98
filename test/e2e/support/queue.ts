import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePorts } from '../../../tools/n8n/ports';
import { Service } from '../../../tools/n8n/service';
import { programs } from './surroundings';

const host = '127.0.0.1';
const startTimeout = 300_000;
const database = 'postgres';
const user = 'n8n';

/** The services that queue mode needs: its own empty Redis and PostgreSQL. */
export class Backing {
	private constructor(
		/** The settings that connect n8n to both. */
		readonly env: Record<string, string>,
		private readonly folder: string,
		private readonly services: Service[],
		private readonly startRedisAgain: () => Promise<Service>,
	) {}

	/** @param logs folder for the logs of both */
	static async start(logs: string): Promise<Backing> {
		// Not inside the repository: the user that runs PostgreSQL may have no access there.
		const folder = await mkdtemp(join(tmpdir(), 'media-e2e-'));
		const [redisPort, postgresPort] = await freePorts(2);
		const services: Service[] = [];
		const redis = async () => await startRedis(folder, redisPort, logs);
		try {
			services.push(await redis());
			services.push(await startPostgres(folder, postgresPort, logs));
		} catch (error) {
			await end(services, folder);
			throw error;
		}
		const env = {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: host,
			DB_POSTGRESDB_PORT: String(postgresPort),
			DB_POSTGRESDB_DATABASE: database,
			DB_POSTGRESDB_USER: user,
			EXECUTIONS_MODE: 'queue',
			QUEUE_BULL_REDIS_HOST: host,
			QUEUE_BULL_REDIS_PORT: String(redisPort),
		};
		return new Backing(env, folder, services, redis);
	}

	get redis(): Service {
		return this.services[0];
	}

	/** Returns the number of executions that the queue counts as running in a worker. */
	async activeJobs(): Promise<number> {
		const socket = connect(Number(this.env.QUEUE_BULL_REDIS_PORT), host);
		try {
			socket.write('LLEN bull:jobs:active\r\n');
			const [answer] = (await once(socket, 'data')) as [Buffer];
			return Number(/^:(\d+)/.exec(answer.toString())?.[1]);
		} finally {
			socket.destroy();
		}
	}

	/** Stops Redis and starts it again with the data that it saved to disk. */
	async restartRedis(): Promise<void> {
		await this.redis.stop();
		this.services[0] = await this.startRedisAgain();
	}

	/** Stops both and deletes their data. */
	async stop(): Promise<void> {
		await end(this.services, this.folder);
	}
}

async function end(services: Service[], folder: string): Promise<void> {
	for (const service of services) await service.stop(10_000, 'SIGINT');
	await rm(folder, { recursive: true, force: true });
}

/** Waits until a service is ready. Stops it and throws its error if it does not become ready. */
async function ready(service: Service, words: string): Promise<Service> {
	try {
		await service.until(() => service.output.includes(words), startTimeout);
		return service;
	} catch (error) {
		await service.stop(0);
		throw error;
	}
}

async function startRedis(folder: string, port: number, logs: string): Promise<Service> {
	const place = ['--port', String(port), '--bind', host, '--dir', folder];
	const settings = [...place, '--save', '', '--appendonly', 'yes'];
	const service = await Service.start({
		name: 'Redis',
		command: programs()['redis-server'],
		args: settings,
		env: process.env,
		logFile: join(logs, 'redis.log'),
	});
	return await ready(service, 'Ready to accept connections');
}

async function startPostgres(folder: string, port: number, logs: string): Promise<Service> {
	const owner = await postgresUser();
	const data = join(folder, 'postgres');
	const bin = programs().postgresql;
	if (owner) await chown(folder, owner.uid, owner.gid);
	const init = ['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--no-sync'];
	await promisify(execFile)(join(bin, 'initdb'), init, { ...owner, cwd: folder });
	const service = await Service.start({
		name: 'PostgreSQL',
		command: join(bin, 'postgres'),
		args: ['-D', data, '-p', String(port), '-h', host, '-k', folder, '-F'],
		env: process.env,
		cwd: folder,
		logFile: join(logs, 'postgres.log'),
		...owner,
	});
	return await ready(service, 'database system is ready to accept connections');
}

/** PostgreSQL refuses to run as root. In that case, returns the user that its package has created. */
async function postgresUser(): Promise<{ uid: number; gid: number } | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	const users = await readFile('/etc/passwd', 'utf8');
	const [, , uid, gid] = /^postgres:.*$/m.exec(users)?.[0].split(':') ?? [];
	if (!uid) throw new Error('There is no user "postgres", which PostgreSQL could run as.');
	return { uid: Number(uid), gid: Number(gid) };
}

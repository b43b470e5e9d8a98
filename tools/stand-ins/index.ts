/** Stand-ins for third-party services, so that every example runs without other accounts. */
import { assist } from './assistant';
import { ChatModel } from './chat-model';
import { ObjectStorage } from './object-storage';
import { Telegram } from './telegram';

/** The account of a stand-in, as an n8n credential. */
export interface StandInAccount {
	/** Name and type of its credential in n8n. */
	name: string;
	type: string;
	/** Data of the credential. */
	data: object;
	/** A description for the user: what it does and where to see what it received. */
	about: string;
}

/** All stand-ins, while they run. */
interface StandIns {
	accounts: StandInAccount[];
	close(): Promise<void>;
}

/** The bucket that the examples name. */
const BUCKET = 'media';

/**
 * Starts all stand-ins on free ports of this machine.
 *
 * @param directory folder for the objects of the storage
 */
export async function openStandIns(directory: string): Promise<StandIns> {
	const opening = [
		ObjectStorage.open(directory, BUCKET),
		Telegram.open(),
		ChatModel.open(assist),
	] as const;
	// If one cannot be opened, the others must not keep the process alive.
	const closeOpened = async () => {
		for (const one of await Promise.allSettled(opening)) {
			if (one.status === 'fulfilled') await one.value.close();
		}
	};
	const [storage, telegram, chat] = await Promise.all(opening).catch(async (error: unknown) => {
		await closeOpened();
		throw error;
	});
	const accounts = [
		{
			name: 'S3 stand-in',
			type: 's3',
			data: storage.credential,
			about: `${storage.url}/${BUCKET} lists what was uploaded`,
		},
		{
			name: 'Telegram stand-in',
			type: 'telegramApi',
			data: telegram.credential,
			about: `${telegram.url} shows what was sent`,
		},
		{
			name: 'OpenAI stand-in',
			type: 'openAiApi',
			data: chat.credential,
			about: 'knows “Draw …”, “A short video of …” and “How many credits are left?”',
		},
	];
	const close = async () => {
		await Promise.all([storage.close(), telegram.close(), chat.close()]);
	};
	return { accounts, close };
}

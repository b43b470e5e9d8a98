import { ICredentialsHelper, NodeHelpers, isExpression } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentials,
	IHttpRequestOptions,
	INode,
	INodeCredentialsDetails,
	INodeProperties,
	IRequestOptionsSimplified,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';
import type { TypeRegistry } from './node-types';

/** The data that the user entered in each credential, by the name of the credential type. */
export type CredentialsByType = Record<string, ICredentialDataDecryptedObject>;

type RequestOptions = IHttpRequestOptions | IRequestOptionsSimplified;

/** Gives nodes the credentials of one execution and signs their requests the way n8n does. */
export class GivenCredentials extends ICredentialsHelper {
	constructor(
		private readonly types: TypeRegistry,
		private readonly given: CredentialsByType,
	) {
		super();
	}

	getParentTypes(name: string): string[] {
		const parents = this.types.credential(name).extends ?? [];
		return parents.flatMap((parent) => [parent, ...this.getParentTypes(parent)]);
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	/** Applies the credential type's `authenticate`. A function returns new options; a declaration changes the given ones. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: RequestOptions,
		workflow?: Workflow,
		node?: INode,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.types.credential(typeName);
		const options = requestOptions as IHttpRequestOptions;
		if (typeof authenticate === 'function') return await authenticate(credentials, options);
		if (authenticate && workflow && node) {
			const resolve = resolver(credentials, workflow, node);
			for (const [part, values] of Object.entries(authenticate.properties)) {
				addTo(options, part, values as Record<string, string>, resolve);
			}
		}
		return options;
	}

	/** Does nothing: none of our credentials exchange their data for a token first. */
	async preAuthentication(): Promise<undefined> {
		return undefined;
	}

	async runPreAuthentication(): Promise<undefined> {
		return undefined;
	}

	/** Returns the given data, with the defaults of fields that the user did not set. */
	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		_details: INodeCredentialsDetails,
		type: string,
	): Promise<ICredentialDataDecryptedObject> {
		return this.withDefaults(type, this.dataOf(type));
	}

	/** Fills in the defaults of the credential type's fields. */
	withDefaults(type: string, data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject {
		const fields = this.getCredentialsProperties(type);
		const values = data as Parameters<typeof NodeHelpers.getNodeParameters>[1];
		const full = NodeHelpers.getNodeParameters(fields, values, true, false, null, null);
		return full as ICredentialDataDecryptedObject;
	}

	getCredentialsProperties(type: string): INodeProperties[] {
		return this.types.credential(type).properties;
	}

	async getCredentials(): Promise<ICredentials> {
		throw new Error('The engine host stores no encrypted credentials');
	}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	private dataOf(type: string): ICredentialDataDecryptedObject {
		const data = this.given[type];
		if (!data) throw new Error(`No data was given for the credential ${type}`);
		return data;
	}
}

type Resolve = (value: string) => string;

function resolver(
	credentials: ICredentialDataDecryptedObject,
	workflow: Workflow,
	node: INode,
): Resolve {
	return (value) => {
		if (!isExpression(value)) return value;
		const keys = { $credentials: credentials };
		const { expression } = workflow;
		return String(
			expression.getSimpleParameterValue(node, value, 'internal', keys, undefined, '') || '',
		);
	};
}

function addTo(
	options: IHttpRequestOptions,
	part: string,
	values: Record<string, string>,
	resolve: Resolve,
): void {
	const target = options as unknown as Record<string, Record<string, string> | undefined>;
	const entries = Object.entries(values).map(([key, value]) => [resolve(key), resolve(value)]);
	// Modifies the existing object, because n8n changes the caller's options too.
	target[part] = Object.assign(target[part] ?? {}, Object.fromEntries(entries));
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemsOf, errorOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, trigger } from './support/workflows';

const ext = '/tmp/wt-record/output/x/ext';
it('tries', async () => {
	await mkdir(ext, { recursive: true });
	await writeFile(join(ext, 'Rec.node.js'), `
class Rec { constructor(){ this.description={displayName:'Rec',name:'rec',group:['transform'],version:1,description:'x',defaults:{name:'Rec'},inputs:['main'],outputs:['main'],properties:[{displayName:'Ops',name:'ops',type:'json',default:'[]'}]}; }
 async execute(){ const {dataTable}=require('/tmp/wt-record/dist/nodes/shared/data-table.js'); const ops=JSON.parse(this.getNodeParameter('ops',0)); const out=[]; let t=Date.now();
  let store; try { store=await dataTable(this);} catch(e){ return [[{json:{error:e.message, d:e.description}}]]; }
  out.push({json:{open:Date.now()-t}});
  for (const [op,...args] of ops){ t=Date.now(); let r; try{ r= op==='raw' ? (await this.executeWorkflow({code:args[0]},args[1])).data : await store[op](...args);}catch(e){r={error:e.message}}; out.push({json:{op,ms:Date.now()-t, n:Array.isArray(r)?r.length:0}}); }
  return [out]; } }
module.exports={Rec};`);
	const workers = Number(process.env.TRY_WORKERS ?? 0);
	const stage = await Stage.open({ name: 'try', workers, env: { N8N_CUSTOM_EXTENSIONS: ext } });
	try {
		const row = (key: string, more = {}) => ({ key, workflow_id: 'w', node_id: 'n', execution_id: '1', generation_id: '', status: 'claimed', type: '', model: '', prompt: '', request: '', writer: `T/${key}`, ...more });
		const many = (n: number, p: string) => Array.from({ length: n }, (_, i) => `${p}${i}`);
		const wfx = (parameters: object) => ({ name: 'x', nodes: [{ id: 'a', position: [0, 0], name: 'Rows', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1.1, parameters: { inputSource: 'passthrough' } }, { id: 'b', position: [0, 0], name: 'Table', type: 'n8n-nodes-base.dataTable', typeVersion: 1.1, parameters }], connections: { Rows: { main: [[{ node: 'Table', type: 'main', index: 0 }]] } }, settings: { executionOrder: 'v1', callerPolicy: 'any', saveDataSuccessExecution: 'none' } });
		const dataTableId = { __rl: true, mode: 'name', value: 'media_generations' };
		const keys = many(100, 'k');
		const get = (conditions: object[]) => wfx({ resource: 'row', operation: 'get', dataTableId, returnAll: true, matchType: 'anyCondition', filters: { conditions } });
		const upd = (all: boolean, set: unknown) => wfx({ resource: 'row', operation: 'update', dataTableId, matchType: 'allConditions', columns: { mappingMode: 'defineBelow', value: set }, filters: { conditions: all ? ['key', 'writer', 'status'].map((keyName, i) => ({ keyName, condition: 'eq', keyValue: `={{ $json.values[${i}] }}` })) : [{ keyName: 'writer', condition: 'eq', keyValue: '={{ $json.values[1] }}' }] } });
		const ten = Array.from({ length: 10 }, (_, i) => ({ json: { values: [`k${i}`, `T/k${i}`, 'claimed'], set: { prompt: 'p' } } }));
		const two = [
			['raw', get(keys.map((k, i) => ({ keyName: 'key', condition: 'eq', keyValue: `={{ $json.values[${i}] }}` }))), [{ json: { values: keys } }]],
			['raw', get(keys.map((k) => ({ keyName: 'key', condition: 'eq', keyValue: k }))), [{ json: {} }]],
			['raw', upd(true, '={{ $json.set }}'), ten],
			['raw', upd(false, '={{ $json.set }}'), ten],
			['raw', upd(true, { prompt: 'x' }), ten],
			['raw', upd(true, '={{ $json.set }}'), ten.slice(0, 1)],
		];
		const ops = [['insert', keys.map((k) => row(k))], ...two, ...two, ...two, ...two, ...two, ...two];
		const file = byHand('Try', ['x'], { name: 'R', type: 'rec', parameters: { ops: JSON.stringify(ops) } });
		const n = (file.nodes as any[]).find((x) => x.name === 'R');
		n.type = 'CUSTOM.rec'; delete n.credentials;
		const wf = await stage.save(file);
		for (let i = 0; i < 1; i++) {
			const ex = await stage.executions.ended(await stage.executions.run(wf, trigger));
			console.log(ex.status, errorOf(ex), itemsOf(ex, 'R').map(({ json }) => JSON.stringify(json)).join('\n'));
			console.log((await stage.executions.idsOf(wf.id)).length);
		}
	} finally { await stage.close(); }
});

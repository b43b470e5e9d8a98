// node scan.mjs <folder of the unpacked package> <folder of its source>
// A separate program, because jest cannot load the scan. Prints JSON: the failures of each of the two, or null.
import { scan } from '../../../tools/n8n-scan.mjs';

const [packed, source] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await scan(packed, source)));

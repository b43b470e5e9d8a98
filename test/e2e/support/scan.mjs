// node scan.mjs <folder of the unpacked package> <folder of its source>
// A program of its own, as jest cannot load the scan. Prints JSON: what each of the two has failed, or null.
import { scan } from '../../../tools/n8n-scan.mjs';

const [packed, source] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await scan(packed, source)));

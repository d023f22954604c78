/**
 * Where the program begins. A sweep goes to the collector that runs on this host, if one does and will; all else is
 * done here. What is loaded before that is known is what every sweep waits for.
 */
import './memory.ts';
import { handOver } from './commands/handover/client.ts';

const argv = process.argv.slice(2);
process.exitCode = (await handOver(argv)) ?? (await (await import('./cli.ts')).main(argv));

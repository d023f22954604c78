#!/usr/bin/env node
/** The lab's command line: serves the demonstration site until it is told to stop. */
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { age, demoSite } from './demo.ts';
import { serveControl } from './faults/control.ts';
import { Faults } from './faults/faults.ts';
import { startSite } from './start.ts';

const HELP = `Usage: node packages/lab/dist/main.js [--port N] [--control SOCKET]

Serves the demonstration site: SNMP agents on 127.20.x.y, all on one UDP port. Prints what is true of it as one JSON
line, { site, targets, credentials, devices }, when every agent answers; ends on SIGTERM or Ctrl-C.

  --port N           UDP port of every agent (default 16161)
  --control SOCKET   Unix socket at which things can be broken and put back
  --help             this text
`;

const DEFAULT_PORT = 16_161;

class UsageError extends Error {}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        control: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new UsageError(`--port ${values.port} is no UDP port`);
    return { ...values, port };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  const { help, port, control } = options();
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const running = await startSite(age(demoSite(), systemClock.now() / 1000), { port });
  const faults = new Faults(running, systemClock);
  const controlled = control === undefined ? null : await serveControl(control, faults);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    faults.stop();
    await controlled?.close();
    await running.stop();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  process.stdout.write(`${JSON.stringify(running.truth)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`lab: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});

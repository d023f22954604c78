// The collector of the demonstration: `rollcall-collector run`, but what the lab has taken away is not heard. On loopback
// the system answers pings of every address, whatever the lab does; the lab's list says whose answers do not count.
//
//   --state FOLDER   as of `rollcall-collector run`
//   LAB_CONTROL      the lab's Unix socket
import '@rollcall/collector/memory';
import { parseArgs } from 'node:util';
import { run } from '@rollcall/collector/commands/run';
import { openNetwork } from '@rollcall/collector/sweep/tools';
import { labState } from './lab-control.mjs';

/** How often the lab is asked: a ping is missed three times in two seconds. */
const LOOK_MS = 500;

const { state } = parseArgs({ options: { state: { type: 'string' } }, allowPositionals: true }).values;
let silent = new Set();
setInterval(() => {
  labState(process.env.LAB_CONTROL).then(
    (lab) => {
      silent = new Set(lab.silent);
    },
    // It restarts: what is known stays.
    () => undefined,
  );
}, LOOK_MS).unref();

/** Opens the engine of `open`; answers of silent addresses are dropped. */
const deafTo = (open) => (space, events, options) =>
  open(
    space,
    {
      heard: (index, rttMs, attempt) => {
        if (!silent.has(space.at(index))) events.heard(index, rttMs, attempt);
      },
      failed: (index, code) => events.failed(index, code),
    },
    options,
  );

process.exitCode = await run(
  { state },
  {
    openNetwork: async (clock, engines) => {
      const network = await openNetwork(clock, engines);
      return { ...network, tools: { ...network.tools, echo: deafTo(network.tools.echo) } };
    },
  },
);

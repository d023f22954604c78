// The collector of the demonstration: `rollcall-collector run`, but what the lab has taken away is not heard. On loopback
// the system answers pings of every address at once, whatever the lab does; the lab's list says whose answers do not count,
// and its lines which get lost or come late.
//
//   --state FOLDER   as of `rollcall-collector run`
//   LAB_CONTROL      the lab's Unix socket
import '@rollcall/collector/memory';
import { parseArgs } from 'node:util';
import { run } from '@rollcall/collector/commands/run';
import { openNetwork } from '@rollcall/collector/sweep/tools';
import { demoSite } from '@rollcall/lab/demo';
import { lineTo } from '@rollcall/lab/demo/lines';
import { reachable } from '@rollcall/lab/device';
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

const boxAt = new Map(
  demoSite().devices.flatMap((box) => reachable(box).map((address) => [address, box.name])),
);
const localSeconds = () => Date.now() / 1000 - new Date().getTimezoneOffset() * 60;

/** Every other attempt at most gets lost: three in a row would be an outage. */
const isLost = ({ loss }, attempt) => attempt % 2 === 0 && Math.random() < 2 * loss;

/** Opens the engine of `open`; answers of silent addresses are dropped, those over a bad line meet what it does. */
const overLines = (open) => (space, events, options) =>
  open(
    space,
    {
      heard: (index, rttMs, attempt) => {
        const address = space.at(index);
        const line = lineTo(boxAt.get(address), localSeconds());
        if (silent.has(address) || (line && isLost(line, attempt))) return;
        events.heard(index, rttMs + (line?.delayMs ?? 0), attempt);
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
      return { ...network, tools: { ...network.tools, echo: overLines(network.tools.echo) } };
    },
  },
);

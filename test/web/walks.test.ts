/**
 * Walks of somebody who never saw the application: each task begins on the landing page and goes on by the words that
 * are seen there, no addresses typed. Each takes a minute at most, in Chromium and in Firefox ESR.
 */
import { demoSite } from '@rollcall/lab/demo';
import { type LiveSite, startSite } from '@rollcall/lab/start';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../system/harness.ts';
import type { Account } from './browser.ts';
import { type BrowserName, isThere, TASK_MS, WALKED, Walker } from './walker.ts';
import { startWorld, type World } from './world.ts';

type Visit = Pick<Walker, 'click' | 'fill' | 'choose' | 'openRow' | 'press' | 'read' | 'sees'>;
interface Own {
  browser: BrowserName;
  /** A switch whose hardware was replaced, and that no other walk acknowledges. */
  swapped: string;
  /** What a person types on the host of a collector. */
  run: (command: string) => Promise<void>;
}
type Task = (walker: Visit, own: Own) => Promise<void>;

const NETWORK = '127.20.40.0/27';
const PRINTER = '127.20.40.17';
const PORT = 16_235;

/** In an installation where nothing is: from the first sign-in to a second person. */
const EMPTY: Record<string, Task> = {
  'the first site': async (one) => {
    await one.click('link', 'New site');
    await one.fill('Name', 'Head office');
    await one.fill('Networks', '127.20.0.0/16');
    await one.click('button', 'More settings: monitoring, limits, hold times');
    await one.fill('SNMP port', String(PORT));
    await one.click('label', 'Allow scans of 127.0.0.0/8 and ::1 (demonstration and tests)');
    await one.click('button', 'Save');
    await one.sees('127.20.0.0/16');
  },
  'the first collector': async (one, { run }) => {
    await one.click('link', 'Add a collector');
    await one.click('button', 'Create a join token');
    await run(await one.read('Then join'));
    await one.sees('first is online');
  },
  'a credential, tested on one address': async (one) => {
    await one.click('link', 'New credential');
    await one.fill('Name', 'campus');
    await one.fill('Community', 'public');
    await one.click('button', 'Save');
    await one.sees('campus');
    await one.click('link', 'Overview');
    await one.fill('Address to test the credentials on', PRINTER);
    await one.click('button', 'Test the credentials');
    await one.sees('Read by SNMP.');
  },
  'the first scan': async (one) => {
    await one.click('link', 'Start a scan');
    await one.fill('Targets', NETWORK);
    await one.click('button', 'Scan 30 addresses');
    await one.sees('completed');
    await one.click('link', 'Devices');
    await one.sees('printer-1');
  },
  'monitor what was found': async (one) => {
    await one.click('link', 'Choose devices');
    await one.click('button', 'Monitor');
    // Before the list has all that the scan found, the dialog would refuse: another number matches by then.
    await one.click('item', 'Monitor all 30 devices');
    await one.click('button', 'Monitor');
    await one.click('link', 'Overview');
    await one.sees('up');
    await one.sees('Measured now');
  },
  'whom to tell': async (one) => {
    await one.click('link', 'First steps');
    await one.click('link', 'New subscription');
    await one.click('label', 'E-mail');
    await one.fill('Name', 'On call');
    await one.fill('Addresses', 'noc@example.net');
    await one.click('button', 'Save');
    await one.sees('noc@example.net');
  },
  'a second person': async (one) => {
    await one.click('link', 'First steps');
    await one.click('link', 'New user');
    await one.fill('Name', 'grace');
    await one.fill('Password', 'correct horse battery staple');
    await one.click('button', 'Save');
    await one.sees('grace');
  },
};

/** In a network that is monitored. */
const WORKING: Record<string, Task> = {
  'which link is down': async (one) => {
    await one.click('link', 'Events…');
    await one.sees('Te1/1/1 of access-2 is down');
  },
  'say that somebody looks at it': async (one, { swapped }) => {
    await one.click('link', 'Events…');
    await one.openRow(`${swapped}: hardware replaced`);
    await one.click('button', 'Acknowledge');
    await one.sees('by admin');
  },
  'open the case and write what was done': async (one, { browser }) => {
    await one.click('link', 'Cases…');
    await one.click('link', 'Switch on floor 2 was replaced');
    await one.fill('Comment', `Seen with ${browser}.`);
    await one.click('button', 'Comment');
    await one.sees(`wrote`);
    await one.sees(`Seen with ${browser}.`);
  },
  'what changed lately': async (one, { swapped }) => {
    await one.click('link', 'Changes');
    await one.sees(`${swapped}: hardware replaced`);
  },
  'a device by its address': async (one) => {
    await one.click('button', 'Search…');
    await one.fill('Search everything', '127.20.0.3');
    // At once, as people do: before there is an answer.
    await one.press('Enter');
    await one.sees('edge-1');
    await one.sees('Reachability');
  },
  'what it is connected to': async (one) => {
    await one.click('link', 'Devices');
    await one.fill('Name, address, serial, MAC, location', 'edge-1');
    await one.click('link', 'edge-1');
    await one.click('link', 'Neighbours…');
    await one.sees('core-1');
  },
  'all switches': async (one) => {
    await one.click('link', 'Devices');
    await one.click('button', 'Class');
    await one.click('option', 'switch');
    await one.press('Escape');
    await one.sees('access-12');
  },
  'the port a printer is on': async (one) => {
    await one.click('link', 'Endpoints');
    await one.fill('IP address', PRINTER);
    await one.sees('access-2 Gi1/0/1');
  },
  'what is around a switch on the map': async (one) => {
    await one.click('link', 'Topology');
    await one.fill('Name, address or class', 'dist-1');
    await one.sees('1 device found');
    await one.press('Enter');
    await one.sees('Reachability');
  },
  'the traffic of an uplink': async (one) => {
    await one.click('link', 'Devices');
    await one.click('link', 'access-2');
    await one.click('link', 'Performance');
    await one.choose('Interface', 'Te1/1/2');
    await one.sees('95th percentile');
  },
  'the availability of the month': async (one) => {
    await one.click('link', 'Availability');
    await one.sees('as a percentage of the time observed');
  },
  'a wall for the control room, and back': async (one) => {
    await one.click('link', 'Wall');
    await one.click('button', 'Show the wall');
    await one.sees('Not acknowledged');
    await one.press('Escape');
    await one.sees('Show the wall');
  },
  'scan a network': async (one) => {
    await one.click('link', 'Discovery');
    await one.click('button', 'Start a scan');
    await one.fill('Targets', '127.20.0.0/29');
    await one.choose('Site', 'Head office');
    await one.click('button', 'Scan 6 addresses');
    await one.sees('completed');
  },
  'scan it every night': async (one, { browser }) => {
    await one.click('link', 'Discovery');
    await one.click('link', 'Schedules…');
    await one.click('button', 'New schedule');
    await one.fill('Name', `night ${browser}`);
    await one.fill('Targets', '127.20.0.0/29');
    await one.choose('Site', 'Head office');
    await one.click('button', 'Save');
    await one.sees(`night ${browser}`);
  },
  'a token for a script': async (one, { browser }) => {
    await one.click('button', 'admin…');
    await one.click('item', 'Profile and API tokens');
    await one.click('button', 'Create a token');
    await one.fill('Name', `script ${browser}`);
    await one.click('button', 'Create');
    await one.click('button', 'I have it');
    await one.sees(`script ${browser}`);
  },
  'plan work, so that nobody is woken': async (one, { browser }) => {
    await one.click('link', 'Maintenance');
    await one.click('button', 'Plan maintenance');
    await one.fill('Name', `optics ${browser}`);
    await one.choose('Site', 'Head office');
    await one.click('button', 'Plan it');
    await one.sees(`optics ${browser}`);
  },
};

const browsers = Object.keys(WALKED) as BrowserName[];
for (const name of browsers.filter((one) => !isThere(one)))
  skipped(
    `walks in ${name}: no browser at ${WALKED[name]} (apt-get install ${name === 'firefox' ? 'firefox-esr' : name})`,
  );
const walked = browsers.filter(isThere);

const seconds: string[] = [];
afterAll(() => void process.stdout.write(`\nseconds of each task\n${seconds.join('\n')}\n`));

/** Signs in, then does each task from the landing page on. */
function walk(browser: BrowserName, tasks: Record<string, Task>, start: () => Promise<Place>): void {
  let walker: Walker;
  let close: () => Promise<void>;
  let place: Place;
  beforeAll(async () => {
    place = await start();
    ({ walker, close } = await Walker.start(browser));
    await walker.open(place.url);
    await walker.fill('Name', place.admin.name);
    await walker.fill('Password', place.admin.password);
    await walker.click('button', 'Sign in');
    await walker.sees('Recent changes');
  });
  afterAll(() => close?.());
  it.each(Object.entries(tasks))(
    '%s',
    async (task, act) => {
      const since = performance.now();
      await walker.open(place.url);
      await act(walker, {
        browser,
        swapped: browser === 'firefox' ? 'access-5' : 'access-7',
        run: place.run,
      }).catch(async (error) => {
        await walker.picture(`walk-${browser}-${task.replaceAll(/\W+/g, '-')}`);
        throw error;
      });
      const took = performance.now() - since;
      seconds.push(`${browser.padEnd(8)} ${(took / 1000).toFixed(1).padStart(5)} s  ${task}`);
      expect(took).toBeLessThan(TASK_MS);
    },
    2 * TASK_MS,
  );
}

interface Place {
  url: string;
  admin: Account;
  run: Own['run'];
}

describe.skipIf(walked.length === 0)('first-time walks in an empty installation', () => {
  let lab: LiveSite;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    lab = await startSite(demoSite(), { port: PORT });
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await lab?.stop();
  });
  const start = async (): Promise<Place> => {
    // The embedded database, as who tries it first has.
    const installation = await Installation.start();
    stops.push(() => installation.stop());
    return {
      url: installation.server.url,
      admin: installation.server.firstAdmin as Account,
      run: async (command) => {
        const token = /^rollcall-collector join \S+ (rcj_\S+)$/.exec(command)?.[1];
        expect(token, command).toBeDefined();
        await installation.collectorBy(token ?? '', 'first');
      },
    };
  };
  describe.each(walked)('in %s', (browser) => walk(browser, EMPTY, start));
});

describe.skipIf(walked.length === 0)('first-time walks in a working network', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(PORT);
  });
  afterAll(() => world?.stop());
  const start = async (): Promise<Place> => ({ ...world, run: () => Promise.reject(new Error('no host')) });
  describe.each(walked)('in %s', (browser) => walk(browser, WORKING, start));
});

/**
 * Five walks of somebody who never saw the application, twenty tasks: from the menu and the words on the page alone, no
 * addresses typed. Each takes a minute at most, in Chromium and in Firefox ESR.
 */
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowserName, isThere, TASK_MS, WALKED, Walker } from './walker.ts';
import { startWorld, type World } from './world.ts';

interface Visit extends Pick<Walker, 'click' | 'fill' | 'choose' | 'openRow' | 'press' | 'sees'> {}
type Task = (walker: Visit, own: { browser: BrowserName; swapped: string }) => Promise<void>;

const WALKS: Record<string, Record<string, Task>> = {
  'what is wrong': {
    'which link is down': async (one) => {
      await one.click('link', 'Events…');
      await one.sees('Te1/1/1 of access-2 is down');
    },
    'say that somebody looks at it': async (one, { swapped }) => {
      await one.openRow(`${swapped} is other hardware`);
      await one.click('button', 'Acknowledge');
      await one.sees('by admin');
    },
    'open the case and write what was done': async (one, { browser }) => {
      await one.click('link', 'Cases…');
      await one.click('link', 'Switch on floor 2 was replaced');
      await one.fill('Comment', `Seen with ${browser}.`);
      await one.click('button', 'Comment');
      await one.sees(`Seen with ${browser}.`);
    },
    'what changed lately': async (one, { swapped }) => {
      await one.click('link', 'Changes');
      await one.sees(`${swapped} is other hardware`);
    },
  },
  'where is it': {
    'a device by its address': async (one) => {
      await one.click('button', 'Search…');
      await one.fill('Search everything', '127.20.0.3');
      // At once, as people do: before there is an answer.
      await one.press('Enter');
      await one.sees('edge-1');
      await one.sees('Neighbours');
    },
    'what it is connected to': async (one) => {
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
      await one.fill('IP address', '127.20.40.17');
      await one.sees('access-2 Gi1/0/1');
    },
  },
  'how is it': {
    'the map around a switch': async (one) => {
      await one.click('link', 'Topology');
      await one.fill('Name, address or class', 'dist-1');
      await one.sees('1 device found');
    },
    'the traffic of an uplink': async (one) => {
      await one.press('Enter');
      await one.sees('Reachability');
      await one.click('link', 'Performance');
      await one.sees('Nothing is measured while the device is not monitored');
    },
    'the availability of the month': async (one) => {
      await one.click('link', 'Availability');
      await one.sees('percent of the time observed');
    },
    'a wall for the control room, and back': async (one) => {
      await one.click('link', 'Wall');
      await one.click('button', 'Show the wall');
      await one.sees('Not acknowledged');
      await one.press('Escape');
      await one.sees('Show the wall');
    },
  },
  'set it up': {
    'try credentials on one address': async (one) => {
      await one.click('link', 'First steps');
      await one.choose('Site of the address', 'Head office');
      await one.fill('Address to try the credentials on', '127.20.40.17');
      await one.click('button', 'Try them on this address');
      await one.sees('read by SNMP.');
    },
    'a site of its own': async (one, { browser }) => {
      await one.click('link', 'Sites');
      await one.click('button', 'New site');
      await one.fill('Name', `Depot ${browser}`);
      await one.fill('Networks', '10.77.0.0/16');
      await one.click('button', 'Save');
      await one.sees(`Depot ${browser}`);
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
  },
  'work with others': {
    'an account for a colleague': async (one, { browser }) => {
      await one.click('link', 'Users');
      await one.click('button', 'New user');
      await one.fill('Name', `ada-${browser}`);
      await one.fill('Password', 'correct horse battery staple');
      await one.click('button', 'Save');
      await one.sees(`ada-${browser}`);
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
    'tell a ticket system of cases': async (one, { browser }) => {
      await one.click('link', 'Notifications');
      await one.click('button', 'New subscription');
      await one.fill('Name', `tickets ${browser}`);
      await one.fill('Address', 'https://tickets.example.net/hook');
      await one.click('button', 'Save');
      await one.click('button', 'I have it');
      await one.sees(`tickets ${browser}`);
    },
    'plan work, so that nobody is woken': async (one, { browser }) => {
      await one.click('link', 'Maintenance');
      await one.click('button', 'Plan maintenance');
      await one.fill('Name', `optics ${browser}`);
      await one.choose('Site', 'Head office');
      await one.click('button', 'Plan it');
      await one.sees(`optics ${browser}`);
    },
  },
};

const browsers = Object.keys(WALKED) as BrowserName[];
for (const name of browsers.filter((one) => !isThere(one)))
  skipped(
    `walks in ${name}: no browser at ${WALKED[name]} (apt-get install ${name === 'firefox' ? 'firefox-esr' : name})`,
  );
const walked = browsers.filter(isThere);

describe.skipIf(walked.length === 0)('first-time walks', () => {
  let world: World;
  const seconds: string[] = [];
  beforeAll(async () => {
    world = await startWorld(16_235);
  }, 300_000);
  afterAll(async () => {
    process.stdout.write(`\nseconds of each task\n${seconds.join('\n')}\n`);
    await world?.stop();
  });

  describe.each(walked)('in %s', (browser) => {
    let walker: Walker;
    let close: () => Promise<void>;
    const own = { browser, swapped: browser === 'firefox' ? 'access-5' : 'access-7' };
    beforeAll(async () => {
      ({ walker, close } = await Walker.start(browser));
      await walker.open(world.url);
      await walker.fill('Name', world.admin.name);
      await walker.fill('Password', world.admin.password);
      await walker.click('button', 'Sign in');
      await walker.sees('Recent changes');
    }, 120_000);
    afterAll(() => close?.());

    for (const [walk, tasks] of Object.entries(WALKS))
      it.each(Object.entries(tasks))(
        `${walk}: %s`,
        async (task, act) => {
          const since = performance.now();
          try {
            await act(walker, own);
          } catch (error) {
            await walker.picture(`walk-${browser}-${task.replaceAll(/\W+/g, '-')}`);
            // The next task begins without what this one left open.
            await walker.open(world.url);
            throw error;
          }
          const took = performance.now() - since;
          seconds.push(`${browser.padEnd(8)} ${(took / 1000).toFixed(1).padStart(5)} s  ${walk}: ${task}`);
          expect(took).toBeLessThan(TASK_MS);
        },
        2 * TASK_MS,
      );
  });
});

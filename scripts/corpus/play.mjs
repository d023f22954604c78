// Every recording (`*.snmprec.gz`, folders included) is an SNMP agent on an address of its own; a collector sweeps and
// walks it with the profile `deep`, a server identifies and classifies it, and its line is what the REST API answers.
//
// Identity is decided within a site, and some recordings are of one box: another firmware, a clone, one serial number
// after anonymising. So they are dealt over several sites, and those that the server takes for one box all the same are
// played again, each at another site, until every recording is a device of its own.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordingsIn } from '@rollcall/lab/testing/replay';
import { startServer } from '@rollcall/server/app';
import { readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import { connect } from './api.mjs';
import { deal } from './deal.mjs';
import { openField } from './field.mjs';
import { faulty, readSite } from './results.mjs';

/** Recordings at one site: 1,000 at once would cost the lab half a gigabyte. */
const AT_ONE_SITE = 96;
/** Sites in work at once. */
const SITES_AT_ONCE = 2;
/** Faults of one recording after which it is given up. */
const TRIES = 3;
const SCAN_MS = 300_000;
const POLL_MS = 100;

const say = (text) => process.stderr.write(`corpus: ${text}\n`);

/**
 * Hands a line for every recording of a folder to `emit`, as they come; answers how many have none. The folder is one
 * of recordings, or has one of that name.
 */
export async function playFolder(folder, emit) {
  const inner = join(folder, 'recordings');
  const recordings = await recordingsIn(existsSync(inner) ? inner : folder);
  if (recordings.length === 0) throw new Error(`there are no recordings (*.snmprec.gz) in ${folder}`);
  const temporary = mkdtempSync(join(tmpdir(), 'rollcall-corpus-'));
  const stops = [() => rmSync(temporary, { recursive: true, force: true })];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop().then(() => process.exit(130)));
  try {
    const server = await startServer(
      readConfig({ ROLLCALL_DATA: join(temporary, 'server'), PORT: '0', ROLLCALL_RATE_LIMIT: '0' }),
      {
        log: openLog(
          { logLevel: process.env.LOG_LEVEL ?? 'warn' },
          { destination: process.stderr, terminal: false },
        ),
      },
    );
    stops.push(() => server.stop());
    const api = await connect(server);
    const field = await openField(temporary);
    stops.push(() => field.stop());
    const credential = { name: 'corpus', version: 'v2c', community: 'public', allSites: true };
    await api.ask('POST', '/api/credentials', credential);
    return await new Corpus(api, field, recordings.length, emit).play(recordings);
  } finally {
    await stop();
  }
}

class Corpus {
  #api;
  #field;
  #total;
  #emit;
  #done = 0;
  #sites = 0;
  #started = performance.now();

  constructor(api, field, total, emit) {
    this.#api = api;
    this.#field = field;
    this.#total = total;
    this.#emit = emit;
  }

  /** Answers how many have no line. */
  async play(recordings) {
    const lost = [];
    let left = recordings;
    while (left.length > 0) {
      const groups = deal(left, AT_ONE_SITE);
      const again = [];
      const work = async () => {
        for (let group = groups.shift(); group; group = groups.shift())
          again.push(...(await this.#visit(group)));
      };
      await Promise.all(Array.from({ length: SITES_AT_ONCE }, work));
      lost.push(...again.filter(({ faults = 0 }) => faults >= TRIES));
      left = again.filter(({ faults = 0 }) => faults < TRIES);
      for (const [reason, names] of byReason(left)) say(`played again, ${reason}: ${names.join(', ')}`);
    }
    for (const { name, reason } of lost) say(`NO RESULT for ${name}: ${reason}`);
    say(`${this.#done} of ${this.#total} recordings at ${this.#sites} sites in ${this.#seconds()} s`);
    return lost.length;
  }

  /** One site from its making to its results; answers the recordings that must be played again. */
  async #visit(recordings) {
    this.#sites += 1;
    const number = this.#sites;
    const site = `corpus-${number}`;
    try {
      const { id: siteId } = await this.#api.data('POST', '/api/sites', {
        name: site,
        allowLoopback: true,
        settings: { snmpPort: this.#field.port, monitorFound: 'none' },
      });
      const { token } = await this.#api.ask('POST', '/api/collectors/join-tokens', { siteId });
      const placed = recordings.map((recording, i) => ({
        ...recording,
        // A network of its own: the sweep's pace per network is for real networks.
        address: `127.${64 + (number % 128)}.${i % 250}.${1 + Math.floor(i / 250)}`,
      }));
      await this.#field.open({ site, placed, url: this.#api.url, token });
      await this.#scan(siteId, placed);
      const { lines, again } = await readSite(this.#api, siteId, placed);
      for (const line of lines) this.#emit(line);
      this.#done += lines.length;
      say(`${this.#done} of ${this.#total}, ${this.#seconds()} s`);
      return again;
    } catch (error) {
      return recordings.map((recording) => faulty(recording, error.message));
    } finally {
      await this.#field.close(site).catch((error) => say(`${site}: while closing: ${error.message}`));
    }
  }

  async #scan(site, placed) {
    const { scanId } = await this.#api.ask('POST', '/api/discovery/scan', {
      targets: placed.map(({ address }) => address).join(', '),
      profile: 'deep',
      site,
    });
    const deadline = performance.now() + SCAN_MS;
    for (;;) {
      const scan = await this.#api.data('GET', `/api/discovery/scans/${scanId}`);
      if (scan.status === 'completed') return;
      if (!['queued', 'running'].includes(scan.status) || performance.now() > deadline)
        throw new Error(`the scan is ${scan.status}: ${scan.statusReason || JSON.stringify(scan.errors)}`);
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  }

  #seconds() {
    return ((performance.now() - this.#started) / 1000).toFixed(0);
  }
}

function byReason(recordings) {
  const names = new Map();
  for (const { name, reason } of recordings) names.set(reason, [...(names.get(reason) ?? []), name]);
  return names;
}

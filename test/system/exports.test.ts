/** What other programs read from Rollcall, read by those programs: Debian's Ansible, and its Prometheus with snmp_exporter. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Access } from '@rollcall/lab/device';
import { isr4331 } from '@rollcall/lab/devices/cisco';
import { debian12 } from '@rollcall/lab/devices/servers';
import type { Box } from '@rollcall/lab/product';
import { makeSite } from '@rollcall/lab/site';
import { type LiveSite, startSite } from '@rollcall/lab/start';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../chaos/postgres.ts';
import { Installation, oneDatabase, until } from './harness.ts';

const AGENTS = Number(process.env.TEST_AGENTS ?? 60);
const SITE = 'Lab';
const SERVER: Access = { version: 'v2c', community: 'rollcall-infra' };
const ROUTER: Access = {
  version: 'v3',
  user: 'netops',
  authProtocol: 'sha1',
  authKey: 'lantern-orchard-42',
  privProtocol: 'aes128',
  privKey: 'copper-meadow-17',
};
const CREDENTIALS = [
  { name: 'servers', ...SERVER },
  { name: 'routers', ...ROUTER },
];
const RUN_ME = join(tmpdir(), `rollcall-template-${process.pid}`);
/** Ansible would run it, were it a template to it. */
const HOSTILE = `{{ lookup('pipe', 'touch ${RUN_ME}') }}`;

function boxOf(at: number): Box {
  const [product, access, port, name] =
    at % 2 === 0
      ? ([debian12, SERVER, 'eno1', `server-${at}`] as const)
      : ([isr4331, ROUTER, 'Gi0', `router-${at}`] as const);
  const address = `127.31.${at >> 8}.${at & 255}`;
  return {
    name,
    product,
    access,
    addresses: { [port]: `${address}/32` },
    location: at === 1 ? HOSTILE : 'Hall 2',
  };
}

/** Of snmp_exporter before 0.23: a module for each credential. Both kinds read the same. */
const modules = () =>
  Object.fromEntries(
    CREDENTIALS.map(({ name, ...access }) => [
      `${SITE}: ${name}`,
      {
        get: ['1.3.6.1.2.1.1.3.0'],
        walk: ['1.3.6.1.2.1.2.2.1.10'],
        metrics: [
          { name: 'sysUpTime', oid: '1.3.6.1.2.1.1.3', type: 'gauge', help: 'Since when it runs.' },
          {
            ...{ name: 'ifInOctets', oid: '1.3.6.1.2.1.2.2.1.10', type: 'counter', help: 'Octets received.' },
            indexes: [{ labelname: 'ifIndex', type: 'gauge' }],
          },
        ],
        ...(access.version === 'v3'
          ? {
              version: 3,
              auth: {
                security_level: 'authPriv',
                username: access.user,
                ...{ auth_protocol: 'SHA', password: access.authKey },
                ...{ priv_protocol: 'AES', priv_password: access.privKey },
              },
            }
          : { version: 2, auth: { community: access.community } }),
      },
    ]),
  );

const there = (program: string): boolean => existsSync(join('/usr/bin', program));
const needs = (what: string, packages: Record<string, string>): boolean => {
  const missing = Object.keys(packages).filter((name) => !there(packages[name] ?? ''));
  if (missing.length > 0) skipped(`${what}: install ${missing.join(', ')}`);
  return missing.length === 0;
};
const forAnsible = needs('the inventory of Ansible', { 'ansible-core': 'ansible-inventory', curl: 'curl' });
const forPrometheus = needs('service discovery of Prometheus', {
  prometheus: 'prometheus',
  'prometheus-snmp-exporter': 'prometheus-snmp-exporter',
});

describe.skipIf(!forAnsible && !forPrometheus).each(oneDatabase)('exports on %s', (_name, url) => {
  let world: Installation;
  let lab: LiveSite;
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-exports-'));

  beforeAll(async () => {
    world = await Installation.start({ databaseUrl: await url() });
    const boxes = Array.from({ length: AGENTS }, (_, at) => boxOf(at + 1));
    lab = await startSite(makeSite({ name: SITE, boxes, links: [], credentials: CREDENTIALS }), {
      port: 16_191,
    });
    world.onStop(() => lab.stop());
    const site = await world.site(SITE, 16_191, CREDENTIALS);
    await world.collector(site, 'lab-1');
    const { targets } = lab.truth;
    const { scanId } = await world.api('POST', '/api/discovery/scan', { targets, profile: 'standard', site });
    expect(await world.scanEnd(scanId, 600_000)).toMatchObject({ status: 'completed', devicesNew: AGENTS });
  }, 900_000);
  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true });
    rmSync(RUN_ME, { force: true });
  });

  describe.skipIf(!forAnsible)('for Ansible', () => {
    const script = join(folder, 'rollcall.sh');
    beforeAll(() => {
      const ask = 'curl -sf -H "Authorization: Bearer $TOKEN" "$ROLLCALL/api/export/ansible"';
      writeFileSync(script, `#!/bin/sh\nexec ${ask}\n`, { mode: 0o755 });
    });
    const run = async (program: string, ...words: string[]) => {
      const env = {
        PATH: '/usr/bin:/bin',
        HOME: folder,
        LANG: 'C.UTF-8',
        ROLLCALL: world.server.url,
        TOKEN: world.token,
      };
      return promisify(execFile)(program, ['-i', script, ...words], { env, maxBuffer: 1e8 });
    };

    it('is an inventory: every device a host with its address, in its groups', async () => {
      const { stdout, stderr } = await run('ansible-inventory', '--list');
      expect(stderr).toBe('');
      const read = JSON.parse(stdout);
      const addresses = Object.values(read._meta.hostvars).map(
        (host) => (host as { ansible_host: string }).ansible_host,
      );
      const { devices } = lab.truth;
      expect(addresses.sort()).toEqual(devices.flatMap((each) => each.addresses).sort());
      for (const group of ['router', 'server'])
        expect(read[`class_${group}`].hosts.sort()).toEqual(
          devices
            .filter((each) => each.class === group)
            .map(({ name }) => name)
            .sort(),
        );
      expect(read.site_lab.hosts).toHaveLength(AGENTS);
      expect(read._meta.hostvars['router-1']).toMatchObject({ ansible_network_os: 'cisco.ios.ios' });
    });

    it('attack: what a device says of itself is text to Ansible, not a template', async () => {
      const { stdout } = await run('ansible', 'router-1', '-m', 'debug', '-a', 'var=rollcall_location');
      expect(stdout).toContain('touch');
      expect(existsSync(RUN_ME)).toBe(false);
    });
  });

  describe.skipIf(!forPrometheus)('for Prometheus', () => {
    const children: ChildProcess[] = [];
    let prometheus = '';
    beforeAll(async () => {
      const [exporter, own] = [await freePort(), await freePort()];
      prometheus = `http://127.0.0.1:${own}`;
      writeFileSync(join(folder, 'snmp.yml'), JSON.stringify(modules()));
      const [, example = ''] =
        /^```yaml\n(scrape_configs:[\s\S]*?)^```$/m.exec(readFileSync('docs/api.md', 'utf8')) ?? [];
      const config = example
        .replace('https://rollcall.example.net', world.server.url)
        .replace('svc_TOKEN', world.token)
        .replace('9116', String(exporter))
        .replace('# - {', '- {');
      writeFileSync(
        join(folder, 'prometheus.yml'),
        `global: { scrape_interval: 30s, scrape_timeout: 30s }\n${config}`,
      );
      const start = (name: string, ...words: string[]) =>
        children.push(spawn(join('/usr/bin', name), words, { cwd: folder, stdio: 'ignore' }));
      start(
        'prometheus-snmp-exporter',
        '--config.file=snmp.yml',
        `--web.listen-address=127.0.0.1:${exporter}`,
      );
      start(
        'prometheus',
        '--config.file=prometheus.yml',
        '--storage.tsdb.path=data',
        `--web.listen-address=127.0.0.1:${own}`,
      );
    });
    afterAll(async () => {
      for (const child of children) {
        const ended = once(child, 'exit');
        if (child.exitCode === null && child.kill('SIGKILL')) await ended;
      }
    });

    /** Values by `instance`. */
    const ask = async (query: string) => {
      const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`).catch(
        () => null,
      );
      if (!answer?.ok) return {};
      const { data } = (await answer.json()) as {
        data: { result: { metric: { instance: string }; value: [number, string] }[] };
      };
      return Object.fromEntries(data.result.map(({ metric, value }) => [metric.instance, Number(value[1])]));
    };

    it('are targets without one written by hand: every agent is read, with its own credential', async () => {
      const wanted = Object.fromEntries(
        lab.truth.devices.flatMap(({ addresses, interfaces }) => addresses.map((each) => [each, interfaces])),
      );
      let read: Record<string, number> = {};
      // Once each: an agent that answers too late on a busy machine is read the next time.
      await until(300_000, 'every agent scraped', async () => {
        read = await ask(
          'count by (instance) (group by (instance, ifIndex) (last_over_time(ifInOctets[10m])))',
        );
        return Object.keys(read).length === AGENTS;
      });
      expect(read).toEqual(wanted);
      const up = await ask('max by (instance) (max_over_time(up[10m]))');
      expect(up).toEqual(Object.fromEntries(Object.keys(wanted).map((each) => [each, 1])));
    }, 400_000);
  });
});

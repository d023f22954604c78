// npm run test:containers: the life of the images on this machine, from the packages in dist/: built on a Debian tree, so that no
// registry is asked, run by Podman as an ordinary user on a read-only file system, joined, a network found, killed, started again.
// Network, processes and images of it exist in namespaces and folders of its own. Needs root, podman, buildah, runc and what
// hosts.mjs needs.
import '../../scripts/usage.mjs';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enterNamespaces, tree, until } from './hosts.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const BASE = 'localhost/rollcall-test-base';
/** Of the containers, the collector and the agent; all share the network of the namespace. */
const ADDRESS = '10.77.0.1';
const SERVER = `https://${ADDRESS}:8443`;
/** The user of the images. */
const USER = 10001;

await enterNamespaces();
const folder = mkdtempSync(join(tmpdir(), 'rollcall-containers-'));
process.env.CONTAINERS_CONF = join(folder, 'containers.conf');
process.env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf');
writeFileSync(
  process.env.CONTAINERS_CONF,
  // Of a machine that may raise no limits and mixes both kinds of control groups: what Podman asks for by default fails there.
  '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n',
);
writeFileSync(
  process.env.CONTAINERS_STORAGE_CONF,
  `[storage]\ndriver = "overlay"\ngraphroot = "${join(folder, 'store')}"\nrunroot = "/run/rollcall-containers"\n`,
);

const podman = (...words) =>
  execFileSync('podman', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
/** What a program in a container said, also where it failed. */
const tryIn = (name, ...words) => spawnSync('podman', ['exec', name, ...words], { encoding: 'utf8' });
const logOf = (name) => {
  const { stdout, stderr } = spawnSync('podman', ['logs', name], { encoding: 'utf8' });
  return stdout + stderr;
};
const expect = (fact, what) => {
  if (!fact) throw new Error(`expected: ${what}`);
};
let passed = 0;
async function step(title, work) {
  const start = Date.now();
  await work();
  passed += 1;
  console.log(`ok  ${title}  (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

let cookie = '';
function api(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Cookie: cookie, Origin: SERVER, 'Content-Type': 'application/json' };
    const options = { method, headers, rejectUnauthorized: false, timeout: 10_000 };
    const asking = request(`${SERVER}${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const answer = JSON.parse(text);
        cookie ||= String(response.headers['set-cookie'] ?? '').split(';')[0];
        if (answer.success === false) reject(new Error(`${method} ${path}: ${text}`));
        else resolve(answer);
      });
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer')));
    asking.on('error', reject).end(body === undefined ? '' : JSON.stringify(body));
  });
}
/** The texts of what is in the image of others, Node's among them. */
const hasNotices = (product) => {
  const file = `/usr/lib/rollcall-${product}/THIRD-PARTY-NOTICES.txt`;
  const { stdout } = tryIn(`rollcall-${product}`, 'grep', '--count', '^node-linux-', file);
  expect(stdout.trim() === '1', `the licences of others in the image of the ${product}`);
};
const healthy = (name) => spawnSync('podman', ['healthcheck', 'run', name]).status === 0;
const collectorOnline = async () => (await api('GET', '/api/collectors')).data.some(({ online }) => online);

/** Debian's compose for Podman, which is older than profiles: services are named. */
function compose(...words) {
  const told = spawnSync('podman-compose', words, { cwd: join(folder, 'compose'), encoding: 'utf8' });
  expect(told.status === 0, `podman-compose ${words.join(' ')}: ${told.stderr}`);
  return told.stdout + told.stderr;
}

/** An image of the name that compose.yaml asks a registry for, out of Debian's PostgreSQL. */
function standInForPostgres() {
  const context = join(folder, 'compose');
  mkdirSync(context);
  for (const path of ['usr/lib/postgresql', 'usr/share/postgresql', 'usr/share/zoneinfo'])
    cpSync(join(tree, path), join(context, path), { recursive: true, verbatimSymlinks: true });
  writeFileSync(
    join(context, 'entrypoint'),
    `set -e
bin=$(echo /usr/lib/postgresql/*/bin)
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  "$bin/initdb" --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256 --locale C.UTF-8 >&2
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  "$bin/pg_ctl" start --wait --options '-c listen_addresses=' >&2
  "$bin/createdb" --username "$POSTGRES_USER" "$POSTGRES_USER"
  "$bin/pg_ctl" stop --wait >&2
fi
exec "$bin/postgres" -c listen_addresses='*'
`,
  );
  writeFileSync(
    join(context, 'Containerfile'),
    `FROM ${BASE}
COPY usr /usr
COPY entrypoint /entrypoint
RUN mkdir -p /var/lib/postgresql/data /run/postgresql && chown postgres: /var/lib/postgresql/data /run/postgresql \\
  && ln -sf /usr/lib/postgresql/*/bin/pg_isready /usr/bin/pg_isready
ENV PGDATA=/var/lib/postgresql/data
USER postgres
ENTRYPOINT ["/bin/sh", "/entrypoint"]
`,
  );
  execFileSync(
    'buildah',
    ['build', '--quiet', '--isolation', 'chroot', '--tag', 'docker.io/library/postgres:17', context],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
}

const LOCKED_DOWN = [
  '--read-only',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
  '--network',
  'host',
];
const startServer = () =>
  podman(
    ...['run', '--detach', '--name', 'rollcall-server', ...LOCKED_DOWN, '--tmpfs', '/tmp'],
    ...['--env', `ROLLCALL_PUBLIC_URL=${SERVER}`, '--env', `ROLLCALL_TLS_NAMES=${ADDRESS}`],
    ...['--volume', 'rollcall-server:/var/lib/rollcall-server', `localhost/rollcall-server:${version}`],
  );

try {
  await step('the images are built on a Debian tree, and say whom they run as', async () => {
    execFileSync('ip', ['address', 'add', `${ADDRESS}/24`, 'dev', 'lan']);
    // As systemd sets it on a host.
    writeFileSync('/proc/sys/net/ipv4/ping_group_range', '0 2147483647');
    const archive = join(folder, 'base.tar');
    const without = ['./usr/share', './usr/lib/postgresql', './var/lib/postgresql', './dev', './boot'];
    execFileSync('tar', ['-C', tree, ...without.map((path) => `--exclude=${path}`), '-cf', archive, '.']);
    podman('import', '--quiet', archive, BASE);
    rmSync(archive);
    const images = join(folder, 'images');
    mkdirSync(images);
    const words = ['--arch', 'amd64', '--base', BASE, '--out', images];
    execFileSync('node', [join(root, 'deploy/container/images.mjs'), ...words], { stdio: 'inherit' });
    execFileSync('bash', [join(root, 'deploy/check.sh'), 'images', images], { stdio: 'inherit' });
    rmSync(images, { recursive: true });
    for (const product of ['server', 'collector']) {
      const [image] = JSON.parse(podman('image', 'inspect', `localhost/rollcall-${product}:${version}`));
      expect(image.Config.User === `${USER}:${USER}`, `user ${USER} of ${product}, not ${image.Config.User}`);
      expect(
        image.HealthCheck ?? image.Healthcheck ?? image.Config.Healthcheck,
        `a health check of ${product}`,
      );
    }
  });

  await step('the server starts, as an ordinary user on a read-only file system', async () => {
    startServer();
    await until(300, 'the server to be healthy', () => healthy('rollcall-server'));
    const said = await until(300, 'the first password in its log', () =>
      /as (\S+) with the password (\S+)/.exec(logOf('rollcall-server')),
    );
    await api('POST', '/api/session', { name: said[1], password: said[2] });
    const ada = { name: 'ada', password: 'lantern orchard 42 copper', role: 'viewer', allSites: true };
    await api('POST', '/api/users', ada);
    expect(tryIn('rollcall-server', 'id', '-u').stdout.trim() === String(USER), `user ${USER}`);
    expect(
      tryIn('rollcall-server', 'touch', '/usr/x').stderr.includes('Read-only'),
      'nothing to write to but the volume',
    );
    hasNotices('server');
  });

  await step('a collector joins by the line that the server shows, and is healthy', async () => {
    const { data } = await api('POST', '/api/sites', { name: 'Home', networks: ['10.77.0.0/24'] });
    const { container } = await api('POST', '/api/collectors/join-tokens', { siteId: data.id });
    execFileSync('sh', ['-c', container], { stdio: ['ignore', 'ignore', 'inherit'] });
    await until(300, 'the collector online', collectorOnline);
    await until(300, 'the collector to be healthy', () => healthy('rollcall-collector'));
    expect(tryIn('rollcall-collector', 'id', '-u').stdout.trim() === String(USER), `user ${USER}`);
    hasNotices('collector');
  });

  await step('it finds a real agent, pinging without a privilege', async () => {
    writeFileSync(
      join(folder, 'snmpd.conf'),
      `agentaddress udp:${ADDRESS}:161\nrocommunity public\nsysName container-agent\n`,
    );
    podman(
      'run',
      '--detach',
      '--name',
      'agent',
      '--network',
      'host',
      '--volume',
      `${folder}/snmpd.conf:/etc/snmp/snmpd.conf:ro`,
      BASE,
      'snmpd',
      '-f',
      '-Lo',
    );
    await api('POST', '/api/credentials', { name: 'read-only', version: 'v2c', community: 'public' });
    const { scanId } = await api('POST', '/api/discovery/scan', {
      targets: `${ADDRESS}/32`,
      profile: 'standard',
    });
    const ended = await until(300, 'the end of the scan', async () => {
      const { data } = await api('GET', `/api/discovery/scans/${scanId}`);
      return ['completed', 'partial', 'failed'].includes(data.status) && data;
    });
    expect(ended.status === 'completed', `a completed scan: ${JSON.stringify(ended)}`);
    const { data } = await api('GET', '/api/devices');
    expect(data.length === 1 && data[0].sysName === 'container-agent', `the agent: ${JSON.stringify(data)}`);
  });

  await step('killed, both come back with what they had', async () => {
    podman('kill', 'rollcall-server', 'rollcall-collector');
    podman('start', 'rollcall-server', 'rollcall-collector');
    await until(300, 'the server to be healthy', () => healthy('rollcall-server'));
    await until(300, 'the collector online', collectorOnline);
    expect((await api('GET', '/api/devices')).totalCount === 1, 'the device');
    expect((await api('GET', '/api/collectors')).totalCount === 1, 'one collector, not joined anew');
  });

  await step('a new container on the volume goes on; a stop is clean', async () => {
    podman('stop', '--time', '20', 'rollcall-server');
    const [{ State }] = JSON.parse(podman('inspect', 'rollcall-server'));
    expect(State.ExitCode === 0, `exit code 0, not ${State.ExitCode}`);
    podman('rm', 'rollcall-server');
    expect(!healthy('rollcall-server'), 'no health without the server');
    startServer();
    await until(300, 'the collector online', collectorOnline);
    expect((await api('GET', '/api/devices')).totalCount === 1, 'the device');
  });
  await step(
    'compose.yaml starts PostgreSQL and the server, as its head says, and keeps what they had',
    async () => {
      podman('rm', '--all', '--force', '--time', '20');
      standInForPostgres();
      for (const name of ['deploy/container/compose.yaml', 'deploy/container/scrape.yaml'])
        cpSync(join(root, name), join(folder, 'compose', basename(name)));
      writeFileSync(
        join(folder, 'compose/.env'),
        `ROLLCALL_PUBLIC_URL=${SERVER}\nROLLCALL_HOST=${ADDRESS}\nROLLCALL_DATABASE_PASSWORD=0123456789abcdef\nROLLCALL_VERSION=${version}\n`,
      );
      compose('up', '--detach', 'postgresql', 'server');
      const said = await until(300, 'the first password in the log of the server', () =>
        /as (\S+) with the password (\S+)/.exec(logOf('compose_server_1')),
      );
      cookie = '';
      await until(60, 'the server to answer', () =>
        api('POST', '/api/session', { name: said[1], password: said[2] }).catch(() => false),
      );
      const { data } = await api('POST', '/api/sites', { name: 'Home', networks: ['10.77.0.0/24'] });
      const words = ['rollcall-server', 'join-token', 'create', '--site', 'Home'];
      const token = tryIn('compose_server_1', ...words).stdout;
      expect(/rcj_/.test(token), `a join token from within the container, not ${token}`);
      // Nothing of it is in the network of the host: the collector is started by the line of the web application.
      const { container } = await api('POST', '/api/collectors/join-tokens', { siteId: data.id });
      podman('volume', 'rm', 'rollcall-collector');
      execFileSync('sh', ['-c', container], { stdio: ['ignore', 'ignore', 'inherit'] });
      await until(300, 'the collector online', collectorOnline);
      compose('down');
      compose('up', '--detach', 'postgresql', 'server');
      await until(300, 'the collector online again', () => collectorOnline().catch(() => false));
      expect((await api('GET', '/api/collectors')).totalCount === 1, 'one collector, not joined anew');
      compose('down');
    },
  );
  console.log(`${passed} steps passed`);
} catch (error) {
  for (const name of podman('ps', '--all', '--format', '{{.Names}}').split('\n').filter(Boolean))
    console.error(`── ${name} ──\n${logOf(name).slice(-4000)}`);
  throw error;
} finally {
  spawnSync('podman', ['rm', '--all', '--force', '--time', '2'], { stdio: 'ignore' });
  spawnSync('umount', ['--recursive', join(folder, 'store/overlay')], { stdio: 'ignore' });
  // Mounts that are left end with the namespace; their folders must not hide what went wrong.
  spawnSync('rm', ['-rf', '--one-file-system', folder], { stdio: 'ignore' });
}

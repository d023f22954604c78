/** nginx in front of several servers, by the example of deploy/examples/three-servers. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, eventually, tail } from './child.ts';
import { freePort } from './postgres.ts';
import { ROOT } from './server.ts';

const PATH = `${process.env.PATH}:/usr/sbin`;
export const haveNginx = spawnSync('nginx', ['-v'], { env: { PATH } }).error === undefined;
const EXAMPLE = join(ROOT, 'deploy/examples/three-servers');

export class Balancer {
  readonly port: number;
  readonly #child: Child;

  private constructor(port: number, child: Child) {
    this.port = port;
    this.#child = child;
  }

  /** What is replaced of the example: addresses, ports, the certificate. The rest is as it stands. */
  static async open(folder: string, servers: readonly number[]): Promise<Balancer> {
    mkdirSync(join(folder, 'temp'), { recursive: true });
    const port = await freePort();
    const site = servers
      .reduce(
        (text, server, i) => text.replace(`192.0.2.1${i + 1}:8080`, `127.0.0.1:${server}`),
        readFileSync(join(EXAMPLE, 'nginx.conf'), 'utf8'),
      )
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replace(/.*(\[::\]:443|ssl_certificate|server 192\.0\.2\.).*\n/g, '')
      .replace('rollcall.example.net;', 'localhost;');
    const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/temp/${name};`)
      .join(' ');
    const file = join(folder, 'nginx.conf');
    const main = `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {}`;
    writeFileSync(file, `${main}\nhttp { access_log off; ${temps}\n${site}\n}`);
    const logFile = join(folder, 'nginx.log');
    const child = new Child({
      command: 'nginx',
      args: ['-p', folder, '-c', file],
      env: { PATH },
      logFile,
    });
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/api/health/live`).then(
        ({ ok }) => ok,
        () => false,
      );
    if (!(await eventually(answers, 15_000))) throw new Error(`nginx does not answer:\n${tail(logFile)}`);
    return new Balancer(port, child);
  }

  async close(): Promise<void> {
    await this.#child.stop(5_000);
  }
}

/** The example's settings of each server, on this database and with this key. */
export function settingsFile(folder: string, databaseUrl: string): string {
  const file = join(folder, 'server.yaml');
  const text = readFileSync(join(EXAMPLE, 'server.yaml'), 'utf8')
    .replace(/^database: .*/m, `database: ${databaseUrl}`)
    .replace('192.0.2.10', '127.0.0.1');
  writeFileSync(file, text);
  return file;
}

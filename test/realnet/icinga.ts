/**
 * Debian's Icinga 2 beside the product, on the same network at the same pace: what it notifies of. Its configuration
 * follows its manual: a host object for each box, a host dependency on each box before it as seen from the monitoring
 * host ("Dependencies for Network Reachability"; in 2.13 several are redundant), a service for the agent. Unlike the
 * product it is told who depends on whom.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan } from './plan.ts';

const PROGRAM = '/usr/sbin/icinga2';
/** Folders where it keeps state: it gets empty ones. */
const OWN_FOLDERS = ['/run/icinga2', '/var/lib/icinga2', '/var/log/icinga2', '/var/cache/icinga2'];

export const haveIcinga = (): boolean => existsSync(PROGRAM);

export class Icinga {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  static async start(plan: Plan): Promise<Icinga> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-icinga-'));
    chmodSync(folder, 0o777);
    const file = join(folder, 'icinga2.conf');
    writeFileSync(file, configOf(plan, join(folder, 'told')));
    writeFileSync(join(folder, 'told'), '');
    chmodSync(join(folder, 'told'), 0o666);
    const mounts = OWN_FOLDERS.map(
      (path) => `mkdir -p ${path}; mount -t tmpfs -o mode=777 tmpfs ${path}`,
    ).join('\n');
    const child = spawn(
      'unshare',
      ['-m', '-p', '-f', '--kill-child', 'sh', '-ec', `${mounts}\nexec ${PROGRAM} daemon -c ${file}`],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const icinga = new Icinga(folder, child);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: unknown) => {
        said += String(chunk);
        if (said.includes('Activated all objects')) resolve();
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('exit', () => reject(new Error(said.slice(-2000))));
    });
    return icinga;
  }

  /** Notifications by now: `PROBLEM r1 DOWN`, `RECOVERY h1!snmp OK`. */
  told(): string[] {
    return readFileSync(join(this.#folder, 'told'), 'utf8').split('\n').filter(Boolean);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    // The first process of its namespace, and all others with it: it changed its user, so that `--kill-child` is void.
    const { pid } = this.#process;
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()), 'SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Box → the boxes before it on the shortest ways from the monitoring host. */
function parentsOf({ cables, entries }: Plan): Map<string, string[]> {
  const far = new Map(entries.map((name) => [name, 0]));
  const parents = new Map<string, string[]>();
  for (const [name, steps] of far)
    for (const { a, b } of cables) {
      if (a !== name && b !== name) continue;
      const next = a === name ? b : a;
      if (!far.has(next)) far.set(next, steps + 1);
      if (far.get(next) === steps + 1) parents.set(next, [...(parents.get(next) ?? []), name]);
    }
  return parents;
}

const configOf = (plan: Plan, file: string): string => `
include <itl>
include <plugins>
const PluginDir = "/usr/lib/nagios/plugins"
const NodeName = "localhost"
const ZoneName = NodeName
object Endpoint NodeName { host = NodeName }
object Zone ZoneName { endpoints = [ NodeName ] }
object CheckerComponent "checker" { }
object NotificationComponent "notification" { }
object IcingaApplication "app" { }
object User "on-call" { }
object NotificationCommand "tell" {
  command = [ "/bin/sh", "-c", "echo \\"$$0 $$1 $$2\\" >> ${file}", "$notification.type$", "$tell_object$", "$tell_state$" ]
}
template Host "generic-host" {
  max_check_attempts = 3
  check_interval = 3s
  retry_interval = 1s
  check_command = "hostalive"
  vars.ping_packets = 1
  vars.ping_timeout = 2
}
apply Service "snmp" {
  max_check_attempts = 3
  check_interval = 5s
  retry_interval = 5s
  check_command = "snmp"
  vars.snmp_oid = "1.3.6.1.2.1.1.3.0"
  vars.snmp_timeout = 3
  assign where host.address
}
apply Notification "host" to Host {
  command = "tell"
  users = [ "on-call" ]
  types = [ Problem, Recovery ]
  interval = 0
  vars.tell_object = "$host.name$"
  vars.tell_state = "$host.state$"
  assign where true
}
apply Notification "service" to Service {
  command = "tell"
  users = [ "on-call" ]
  types = [ Problem, Recovery ]
  interval = 0
  vars.tell_object = "$host.name$!$service.name$"
  vars.tell_state = "$service.state$"
  assign where true
}
apply Dependency "parent" for (parent in host.vars.parents) to Host {
  parent_host_name = parent
  states = [ Up ]
  ignore_soft_states = false
  assign where host.vars.parents
}
${plan.boxes
  .map(
    ({ name, address }) => `object Host "${name}" {
  import "generic-host"
  address = "${address}"
  vars.parents = ${JSON.stringify(parentsOf(plan).get(name) ?? [])}
}
`,
  )
  .join('')}`;

/**
 * The command line. Exit codes: 0 done · 1 could not be done, the last line says why · 2 the command line is wrong ·
 * 130 interrupted. Everything heavy is loaded by the command that needs it.
 */
import type { Command } from 'commander';
import { addCredentialOptions } from './commands/credentials.ts';
import { whole } from './commands/flags.ts';
import { addSweep, programOn, report } from './commands/sweep-command.ts';
import { ownTerminal } from './commands/terminal.ts';
import { VERSION } from './platform/version.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 could not be done (the last line says why), 2 wrong command line, 130 interrupted.`;
const SNMP_DOCTOR_CODES = `
Exit codes: 0 both read the same, 1 they differ, 2 the agent was not read, or wrong command line.`;

const STATE = ['--state <folder>', 'folder of identity and outbox'] as const;
const CONFIG = ['--config <file>', 'settings of this host (/etc/rollcall/collector.yaml)'] as const;

function program(finish: (code: number) => void): Command {
  const root = programOn(process)
    .description('Discovers and inventories networks by ICMP and SNMP, for a Rollcall server or by hand.')
    .version(VERSION)
    .addHelpText('after', EXIT_CODES);

  addSweep(root, async (targets, flags) => {
    const [{ runSweep }, { ownResources }] = await Promise.all([
      import('./commands/sweep.ts'),
      import('./commands/own-resources.ts'),
    ]);
    finish((await runSweep(targets, flags, ownTerminal(), await ownResources(flags))) ?? 1);
  });

  root
    .command('join')
    .description('make this host a collector of a site')
    .argument('<url>', 'address of the server, https://…')
    .argument('<token>', 'join token, from the server: Collectors → Add')
    .option(...STATE)
    .option(...CONFIG)
    .option('--name <name>', 'name of the collector; without it the host name')
    .option('--json', 'answer as JSON', false)
    .action(async (url: string, token: string, flags) => {
      const { runJoin } = await import('./commands/join.ts');
      finish(await runJoin(url, token, flags));
    });
  root
    .command('run')
    .description('work for the server that was joined, until SIGTERM')
    .option(...STATE)
    .option(...CONFIG)
    .option('--join <url>', 'join this server first, where none was joined yet: for containers')
    .option('--token <token>', 'join token, with --join')
    .option('--name <name>', 'name of the collector, with --join; without it the host name')
    .action(async (flags) => {
      const { run } = await import('./commands/run.ts');
      finish(await run(flags));
    });
  root
    .command('settings')
    .description('check the settings and print those in force; changes nothing')
    .option(...CONFIG)
    .option('--json', 'answer as JSON', false)
    .action(async (flags) => {
      const { runSettings } = await import('./commands/settings.ts');
      finish(await runSettings(flags));
    });
  addDoctor(root, finish);
  return root;
}

function addDoctor(root: Command, finish: (code: number) => void): void {
  const doctor = root
    .command('doctor')
    .description('check everything a first run fails on, and say what to do')
    .option(...STATE)
    .option(...CONFIG)
    .option('--json', 'answer as JSON', false)
    .action(async (flags) => {
      const { runDoctor } = await import('./commands/doctor.ts');
      finish(await runDoctor(flags));
    });
  addCredentialOptions(doctor.command('snmp'))
    .description('read one agent by the collector’s SNMP and by net-snmp, and say where they differ')
    .argument('<address>', 'IPv4 or IPv6 address of the agent')
    .option('--timeout <ms>', 'wait for each answer, milliseconds', whole(10, 60_000), 1500)
    .option('--tries <count>', 'requests without an answer', whole(1, 10), 2)
    .option(...CONFIG)
    .option('--json', 'answer as JSON', false)
    .addHelpText('after', SNMP_DOCTOR_CODES)
    .action(async (address: string, flags) => {
      const { runSnmpDoctor } = await import('./commands/snmp-doctor/snmp-doctor.ts');
      finish(await runSnmpDoctor(address, flags, process));
    });
}

/** Does what the words of a command line say (as in `process.argv`, without program and script); answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let code = 0;
  try {
    await program((ended) => {
      code = ended;
    }).parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return report(error, process.stderr);
  }
}

/**
 * The command line. Exit codes: 0 done · 1 could not be done, the last line says why · 2 the command line is wrong ·
 * 130 interrupted. Everything heavy is loaded by the command that needs it.
 */
import './memory.ts';
import { Command, CommanderError, Option } from 'commander';
import { oneOf, rate, repeated, whole } from './commands/flags.ts';
import { Misuse, Refusal } from './refusal.ts';
import { VERSION } from './version.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 could not be done (the last line says why), 2 wrong command line, 130 interrupted.`;

function program(finish: (code: number) => void): Command {
  const root = new Command('rollcall-collector')
    .description('Takes the roll of a network: ICMP and SNMP sweeps, for a Rollcall server or by hand.')
    .version(VERSION)
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .enablePositionalOptions();

  root
    .command('sweep')
    .description('sweep networks now and print what is found; needs no server')
    .argument(
      '<targets...>',
      'addresses, blocks (10.0.0.0/24), ranges (10.0.0.1-10.0.0.9); ! in front excludes',
    )
    .addOption(
      new Option('--profile <name>', 'what to ask')
        .choices(['ping', 'standard', 'deep', 'snmp'])
        .default('standard'),
    )
    .option('--community <text>', 'SNMP community, repeatable; or ROLLCALL_COMMUNITY', repeated)
    .option('--snmp-version <v1|v2c>', 'SNMP version for communities', oneOf(['v1', 'v2c']), 'v2c')
    .option('--v3-user <name>', 'SNMPv3 user')
    .option('--v3-auth <protocol>', 'md5, sha1, sha224, sha256, sha384, sha512', oneOf(AUTH), 'none')
    .option('--v3-auth-key-file <file>', 'file with its pass phrase; or ROLLCALL_V3_AUTH_KEY')
    .option(
      '--v3-priv <protocol>',
      'des, aes128, aes192, aes256, aes192r, aes256r (Cisco)',
      oneOf(PRIV),
      'none',
    )
    .option('--v3-priv-key-file <file>', 'file with its pass phrase; or ROLLCALL_V3_PRIV_KEY')
    .option('--v3-context <name>', 'SNMPv3 context')
    .option('--snmp-port <port>', 'UDP port of the agents (161)', whole(1, 65_535))
    .option('--rate <packets>', 'packets per second, or max', rate)
    .option('--rate-per-net <packets>', 'packets per second into one /24 or /64, or max', rate)
    .option('--tries <count>', 'requests to a silent address', whole(1, 10))
    .option('--timeout <ms>', 'wait for each answer, milliseconds', whole(10, 60_000))
    .option('--exclude <target>', 'leave these out, repeatable', repeated)
    .option('--max <count>', 'refuse more addresses than this', whole(1, 16_777_216), 1_048_576)
    .option(
      '--engine <name>',
      'ICMP by datagram, raw or ping only, repeatable',
      (text, before: string[] | undefined) => repeated(oneOf(ENGINES)(text), before),
    )
    .option('--dns', 'look up names of live addresses', false)
    .option('--explain <address>', 'say how this address ended, repeatable', repeated)
    .option('--json', 'one JSON object per line and live host', false)
    .option('--config <file>', 'settings of this host (/etc/rollcall/collector.yaml)')
    .action(async (targets: string[], flags) => {
      const { runSweep } = await import('./commands/sweep.ts');
      finish(await runSweep(targets, flags));
    });

  const state = ['--state <folder>', 'folder of identity and outbox'] as const;
  const config = ['--config <file>', 'settings of this host (/etc/rollcall/collector.yaml)'] as const;
  root
    .command('join')
    .description('make this host a collector of a site')
    .argument('<url>', 'address of the server, https://…')
    .argument('<token>', 'join token, from the server: Collectors → Add')
    .option(...state)
    .option(...config)
    .option('--name <name>', 'name of the collector; without it the host name')
    .option('--json', 'answer as JSON', false)
    .action(async (url: string, token: string, flags) => {
      const { runJoin } = await import('./commands/join.ts');
      finish(await runJoin(url, token, flags));
    });
  root
    .command('run')
    .description('work for the server that was joined, until SIGTERM')
    .option(...state)
    .option(...config)
    .action(async (flags) => {
      const { run } = await import('./commands/run.ts');
      finish(await run(flags));
    });
  root
    .command('settings')
    .description('check the settings and print those in force; changes nothing')
    .option(...config)
    .option('--json', 'answer as JSON', false)
    .action(async (flags) => {
      const { runSettings } = await import('./commands/settings.ts');
      finish(await runSettings(flags));
    });
  root
    .command('doctor')
    .description('check everything a first run fails on, and say what to do')
    .option(...state)
    .option(...config)
    .option('--json', 'answer as JSON', false)
    .action(async (flags) => {
      const { runDoctor } = await import('./commands/doctor.ts');
      finish(await runDoctor(flags));
    });
  return root;
}

const AUTH = ['none', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const;
const PRIV = ['none', 'des', 'aes128', 'aes192', 'aes256', 'aes192r', 'aes256r'] as const;
const ENGINES = ['datagram', 'raw', 'ping'] as const;

try {
  await program((code) => {
    process.exitCode = code;
  }).parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

/** Tells what is wrong in one line; answers the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    process.stderr.write(
      `rollcall-collector: ${error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; --help lists what there is\n`,
    );
    return 2;
  }
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`rollcall-collector: ${error.message}\n`);
  return error instanceof Misuse ? 2 : 1;
}

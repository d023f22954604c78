/** The options of `sweep`, and the errors of a wrong command line; the same in a process of its own and in the collector. */
import { Command, CommanderError, Option } from 'commander';
import { ENGINES } from '../platform/engines.ts';
import { Misuse, Refusal } from '../platform/refusal.ts';
import { addCredentialOptions } from './credentials.ts';
import { oneOf, rate, repeated, whole } from './flags.ts';
import type { SweepFlags, SweepResources } from './sweep.ts';
import type { Screen, Terminal } from './terminal.ts';

/** A program that ends nothing by itself and shows its help on this terminal: Commander's way for both ends. */
export const programOn = ({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>): Command =>
  new Command('rollcall-collector')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stderr.columns ?? 80,
    })
    .enablePositionalOptions();

/** Adds `sweep` to a program; `perform` gets what was asked for. */
export function addSweep(
  program: Command,
  perform: (targets: string[], flags: SweepFlags) => Promise<void>,
): void {
  addCredentialOptions(program.command('sweep'))
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
    .option('--alone', 'in a process of its own, also where a collector runs', false)
    .action(perform);
}

/** A sweep for somebody else on this host: the words behind `sweep`; null when these means do not suffice. */
export async function performSweep(
  argv: readonly string[],
  terminal: Terminal,
  resources: SweepResources,
): Promise<number | null> {
  const { runSweep } = await import('./sweep.ts');
  let code: number | null = 0;
  const program = programOn(terminal);
  addSweep(program, async (targets, flags) => {
    code = await runSweep(targets, flags, terminal, resources);
  });
  try {
    await program.parseAsync(['sweep', ...argv], { from: 'user' });
    return code;
  } catch (error) {
    return report(error, terminal.stderr);
  }
}

/** Prints what is wrong in one line; answers the exit code. Throws what nobody expected. */
export function report(error: unknown, stderr: Screen): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    stderr.write(
      `rollcall-collector: ${error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; --help lists what there is\n`,
    );
    return 2;
  }
  if (!(error instanceof Refusal)) throw error;
  stderr.write(`rollcall-collector: ${error.message}\n`);
  return error instanceof Misuse ? 2 : 1;
}

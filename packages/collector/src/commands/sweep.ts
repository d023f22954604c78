/** `sweep`: one sweep from the command line, without any server. Shares all code with the daemon. */
import { AddressSpace } from '@rollcall/shared/address-space';
import { systemClock } from '@rollcall/shared/clock';
import { OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import { BUILT_IN_PROFILES, type ProfileSettings, profileSettings } from '@rollcall/shared/profile';
import { describeProblem, MAX_ADDRESSES, parseTargets } from '@rollcall/shared/targets';
import { readConfig, type Settings } from '../config.ts';
import { describeChoice } from '../icmp/choose.ts';
import type { EngineName } from '../icmp/echo.ts';
import { Pace, type Rate } from '../pace.ts';
import { Misuse, Refusal } from '../refusal.ts';
import { Scope } from '../scope.ts';
import { AttemptBook } from '../sweep/attempts.ts';
import { sweep } from '../sweep/sweep.ts';
import { openNetwork } from '../sweep/tools.ts';
import { type CredentialFlags, credentialsOf } from './credentials.ts';
import { Gathering, jsonOf, TABLE_HEAD, tableLineOf } from './host-line.ts';
import { Out } from './out.ts';
import { Progress } from './progress.ts';

export interface SweepFlags extends CredentialFlags {
  config?: string;
  profile: keyof typeof BUILT_IN_PROFILES;
  json: boolean;
  rate?: Rate;
  ratePerNet?: Rate;
  snmpPort?: number;
  tries?: number;
  timeout?: number;
  exclude?: string[];
  engine?: EngineName[];
  dns: boolean;
  explain?: string[];
  max: number;
}

/** Sweeps and prints; answers the exit code. Throws a Refusal or Misuse before anything was sent. */
export async function runSweep(targets: readonly string[], flags: SweepFlags): Promise<number> {
  const config = await readConfig(process.env, flags.config);
  const space = spaceOf(targets, flags);
  const profile = profileOf(flags);
  const credentials = profile.snmp ? await snmpCredentials(flags) : [];
  if (credentials.length === 0) profile.snmp = null;
  const explained = new Map((flags.explain ?? []).map((text) => [indexIn(space, text), text]));
  const { refused, reason } = scoped(space, config);

  const clock = systemClock;
  const network = await openNetwork(clock, flags.engine ?? config.engines);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const out = new Out(process.stdout);
  out.onClosed = onSignal;
  const gathering = new Gathering();
  const progress = new Progress(process.stderr, space.size);
  const columns = process.stdout.columns ?? 400;
  const print = (text: string) => (progress.shares(process.stdout) ? progress.above(text) : out.line(text));
  const endings = new Map<number, { code: OutcomeCode; note: string | undefined }>();
  if (!flags.json) print(TABLE_HEAD);

  const outcome = (index: number, code: OutcomeCode, note?: string) => {
    progress.count(code);
    if (explained.has(index)) endings.set(index, { code, note });
    const address = space.at(index);
    const gathered = gathering.take(address);
    if (!gathered || stop.signal.aborted) return;
    print(
      flags.json
        ? jsonOf(address, gathered, code, note)
        : tableLineOf(address, gathered, code, note, columns),
    );
  };
  for (let index = 0; refused && index < space.size; index += 1) {
    if (refused.has(index)) outcome(index, 'x', reason);
  }
  const started = clock.monotonic();
  try {
    const end = await sweep(
      {
        space,
        skip: (index) => refused?.has(index) ?? false,
        profile,
        credentials,
        known: () => undefined,
        extra: [],
      },
      {
        ...network.tools,
        pace: new Pace(
          {
            rate: profile.rate,
            ratePerNet: profile.ratePerNet,
            ...(config.rate ? { cap: config.rate } : {}),
          },
          clock,
        ),
        attempts: new AttemptBook(clock).within(profile.snmp?.attempts ?? 0),
      },
      {
        observe: (fact) => gathering.add(fact),
        outcome,
        fault: (address, error) => progress.above(`${address}: ${(error as Error).stack ?? error}`),
        ready: () => out.ready(),
      },
      stop.signal,
    );
    out.flush();
    progress.stop();
    for (const [index, text] of explained) explain(flags.json, text, endings.get(index));
    const seconds = (clock.monotonic() - started) / 1000;
    const engines = network.chosen.choices.filter(({ family }) =>
      space.ranges.some((range) => range.family === family),
    );
    process.stderr.write(`${progress.summary(seconds)}\n`);
    if (end.reason !== undefined || engines.some(({ engine }) => engine === 'ping'))
      for (const choice of engines) process.stderr.write(`${describeChoice(choice)}\n`);
    if (end.result === 'deferred')
      throw new Refusal(`could not sweep: ${end.reason}; "rollcall-collector doctor" says what to do`);
    return end.result === 'aborted' ? 130 : 0;
  } finally {
    progress.stop();
    await network.close();
  }
}

function spaceOf(targets: readonly string[], { exclude, max }: SweepFlags): AddressSpace {
  // Whoever types the command is at the host itself: its loopback is no secret to him.
  const parsed = parseTargets(targets.join(' '), { max, exclude: exclude ?? [], allowLoopback: true });
  if (!parsed.ok) throw new Misuse(parsed.problems.map(describeProblem).join('; '));
  return new AddressSpace(parsed.targets.ranges);
}

function profileOf(flags: SweepFlags): ProfileSettings {
  const { icmp, snmp, ...rest } = structuredClone(BUILT_IN_PROFILES[flags.profile]) as ProfileSettings;
  const tries = flags.tries === undefined ? {} : { tries: flags.tries };
  const timeout = flags.timeout === undefined ? {} : { timeoutMs: flags.timeout };
  return profileSettings.parse({
    ...rest,
    icmp: icmp && { ...icmp, ...tries, ...timeout },
    snmp: snmp && { ...snmp, ...tries, ...timeout, port: flags.snmpPort ?? snmp.port },
    rate: flags.rate ?? rest.rate,
    ratePerNet: flags.ratePerNet ?? (flags.rate === 'max' ? 'max' : rest.ratePerNet),
    dns: flags.dns,
  });
}

async function snmpCredentials(flags: SweepFlags) {
  const wire = credentialsOf(flags, process.env);
  if (wire.length === 0) {
    if (flags.profile === 'snmp')
      throw new Misuse('the profile asks by SNMP only: give --community or --v3-user');
    process.stderr.write('SNMP is not asked: give --community TEXT or --v3-user NAME\n');
    return [];
  }
  const { credentialOf } = await import('../snmp/credential.ts');
  return wire.map(credentialOf);
}

function indexIn(space: AddressSpace, address: string): number {
  const index = space.indexOf(address);
  if (index < 0) throw new Misuse(`--explain ${address}: is no address of this sweep`);
  return index;
}

/** The local settings hold for a sweep by hand as well. */
function scoped(space: AddressSpace, { allow, deny }: Settings) {
  if (!allow && deny.length === 0) return { refused: null, reason: undefined };
  const { bits, count, reasons } = new Scope({ allow, deny, loopback: true }).refuse(space);
  const [reason] = reasons.values();
  if (count === space.size) throw new Refusal(`nothing to sweep: ${reason}`);
  return { refused: count > 0 ? bits : null, reason };
}

function explain(
  json: boolean,
  address: string,
  end: { code: OutcomeCode; note: string | undefined } | undefined,
) {
  const outcome = OUTCOMES[end?.code ?? '.'];
  const why = end?.note ?? MEANING[end?.code ?? '.'];
  process.stdout.write(
    json ? `${JSON.stringify({ explain: address, outcome, why })}\n` : `${address}: ${outcome}: ${why}\n`,
  );
}

const MEANING: Record<OutcomeCode, string> = {
  '.': 'the sweep ended before its turn',
  x: 'excluded',
  _: 'answered neither ICMP nor SNMP',
  i: 'answered ICMP; SNMP was not asked',
  s: 'an SNMP agent answered and was read',
  a: 'an SNMP agent is there and refused every credential',
  t: 'answered ICMP; to SNMP it was silent: no agent, another port, a firewall, or another community',
  '=': 'a further address of a device that was read already',
  b: 'a budget of the sweep was used up before it was read to the end',
  e: 'an error came in between',
};

export { MAX_ADDRESSES };

/** `sweep`: one sweep by hand, without any server; in a process of its own or in the collector of the host. */
import { AddressSpace } from '@rollcall/shared/address-space';
import { systemClock } from '@rollcall/shared/clock';
import { BUILT_IN_PROFILES, type ProfileSettings, profileSettings } from '@rollcall/shared/profile';
import { describeProblem, parseTargets } from '@rollcall/shared/targets';
import type { Bits } from '../icmp/bits.ts';
import { describeChoice } from '../icmp/choose.ts';
import type { SweepPace } from '../icmp/sweep.ts';
import type { Settings } from '../platform/config.ts';
import type { EngineName } from '../platform/engines.ts';
import { Misuse, Refusal } from '../platform/refusal.ts';
import type { Rate } from '../runner/pace.ts';
import { AttemptBook } from '../sweep/attempts.ts';
import { Scope } from '../sweep/scope.ts';
import { sweep } from '../sweep/sweep.ts';
import type { SweepEnd } from '../sweep/task.ts';
import type { Network } from '../sweep/tools.ts';
import { type CredentialFlags, credentialsOf } from './credentials.ts';
import { Printer } from './printer.ts';
import type { Terminal } from './terminal.ts';

export interface SweepFlags extends CredentialFlags {
  config?: string;
  profile: keyof typeof BUILT_IN_PROFILES;
  json: boolean;
  rate?: Rate;
  ratePerNet?: Rate;
  tries?: number;
  timeout?: number;
  exclude?: string[];
  engine?: EngineName[];
  dns: boolean;
  explain?: string[];
  max: number;
}

/** What a sweep by hand is done with. */
export interface SweepResources {
  settings: Settings;
  /** The ways out to the network; `engines`: only these for ICMP. */
  open(engines?: readonly EngineName[]): Promise<Network>;
  pace(settings: { rate: Rate; ratePerNet: Rate }): { pace: SweepPace; done: () => void };
  /** Addresses; a larger sweep is not for it. */
  most: number;
}

/**
 * Sweeps and prints; answers the exit code, null when it is too large for these resources. Throws a Refusal or Misuse
 * before anything was sent.
 */
export async function runSweep(
  targets: readonly string[],
  flags: SweepFlags,
  terminal: Terminal,
  resources: SweepResources,
): Promise<number | null> {
  const { settings } = resources;
  const space = spaceOf(targets, flags);
  if (space.size > resources.most) return null;
  const profile = profileOf(flags);
  const credentials = profile.snmp ? await snmpCredentials(flags, terminal) : [];
  if (credentials.length === 0) profile.snmp = null;
  const explained = new Map((flags.explain ?? []).map((text) => [indexIn(space, text), text]));
  const refused = scoped(space, settings);

  const clock = systemClock;
  const network = await resources.open(profile.icmp ? flags.engine : []);
  const printer = new Printer(space, terminal, { json: flags.json, explained });
  const skip = (index: number) => refused?.bits.has(index) ?? false;
  for (let index = 0; refused && index < space.size; index += 1) {
    if (skip(index)) printer.outcome(index, 'x', refused.reason);
  }
  const task = { space, skip, profile, credentials, known: () => undefined, extra: [] };
  const ratePerNet = lower(profile.ratePerNet, settings.ratePerNet);
  const { pace, done } = resources.pace({ rate: lower(profile.rate, settings.rate), ratePerNet });
  const attempts = new AttemptBook(clock).within(profile.snmp?.attempts ?? 0);
  const started = clock.monotonic();
  try {
    const end = await sweep(task, { ...network.tools, pace, attempts }, printer, terminal.stop.signal);
    printer.finish((clock.monotonic() - started) / 1000);
    reportEngines(network, space, end, terminal);
    if (end.result === 'deferred')
      throw new Refusal(`could not sweep: ${end.reason}; "rollcall-collector doctor" says what to do`);
    return end.result === 'aborted' ? 130 : 0;
  } finally {
    printer.stop();
    done();
    await network.close();
  }
}

/** A rate under the cap of the site's administrator. */
const lower = (rate: Rate, cap: number | undefined): Rate =>
  cap === undefined || (rate !== 'max' && rate < cap) ? rate : cap;

/** Says by which engine ICMP went where that was not a good one, or none. */
function reportEngines({ chosen }: Network, space: AddressSpace, end: SweepEnd, { stderr }: Terminal): void {
  const used = chosen.choices.filter(({ family }) => space.ranges.some((range) => range.family === family));
  if (end.reason === undefined && !used.some(({ engine }) => engine === 'ping')) return;
  for (const choice of used) stderr.write(`${describeChoice(choice)}\n`);
}

function spaceOf(targets: readonly string[], { exclude, max }: SweepFlags): AddressSpace {
  // Who types the command is logged in on this host: its loopback is no secret.
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

async function snmpCredentials(flags: SweepFlags, { env, stderr }: Terminal) {
  const wire = credentialsOf(flags, env);
  if (wire.length === 0) {
    if (flags.profile === 'snmp')
      throw new Misuse('the profile asks by SNMP only: give --community or --v3-user');
    stderr.write('SNMP is not asked: give --community TEXT or --v3-user NAME\n');
    return [];
  }
  const { credentialOf } = await import('@rollcall/snmp/engine/credential');
  return wire.map(credentialOf);
}

function indexIn(space: AddressSpace, address: string): number {
  const index = space.indexOf(address);
  if (index < 0) throw new Misuse(`--explain ${address}: is no address of this sweep`);
  return index;
}

/** The local settings hold for a sweep by hand as well: what they leave out, and why; null when nothing. */
function scoped(
  space: AddressSpace,
  { allow, deny }: Settings,
): { bits: Bits; reason: string | undefined } | null {
  if (!allow && deny.length === 0) return null;
  const { bits, count, reasons } = new Scope({ allow, deny, loopback: true }).refuse(space);
  const [reason] = reasons.values();
  if (count === space.size) throw new Refusal(`nothing to sweep: ${reason}`);
  return count > 0 ? { bits, reason } : null;
}

/**
 * The identity fixture: boxes that are hard to tell apart or to recognise, in two sites with the same address space,
 * changing in steps. Whatever a scanner sees, in whatever order, the boxes of `truth` are all there are.
 */

import type { Box } from '../product.ts';
import { makeSite, type Site } from '../site.ts';
import { type LiveSite, startSite } from '../start.ts';
import { cases, overlapping, southBoxes } from './identity/cases.ts';

export interface IdentityCase {
  name: string;
  why: string;
  /** Names of its boxes: as many devices as must be found. */
  boxes: string[];
}

export interface IdentityStep {
  name: string;
  apply(): Promise<void>;
}

export interface IdentityLab {
  north: LiveSite;
  /** Another site with addresses of `north` on other boxes. */
  south: LiveSite;
  cases: IdentityCase[];
  /** Apply one, scan the `truth.targets` of both sites, then the next. The first changes nothing. */
  steps: IdentityStep[];
  /** Two target lists of `north` that share addresses and cut through boxes: scan both at once with two collectors. */
  overlapping: [string, string];
  stop(): Promise<void>;
}

const credentials = [{ name: 'public (v2c)', version: 'v2c' as const, community: 'public' }];

/** Both sites as described, made anew by each call. */
export function identitySites(): { north: Site; south: Site } {
  const all = Object.values(cases);
  const north = siteOf(
    'north',
    all.flatMap((c) => c.boxes),
  );
  for (const device of north.devices) for (const { adjust } of all) adjust?.(device);
  return { north, south: siteOf('south', southBoxes) };
}

/** Starts both sites; on loopback two sites are told apart by the port of their agents. */
export async function startIdentity(settings: {
  ports: { north: number; south: number };
}): Promise<IdentityLab> {
  const sites = identitySites();
  const north = await startSite(sites.north, { port: settings.ports.north });
  const south = await startSite(sites.south, { port: settings.ports.south });
  return {
    north,
    south,
    cases: Object.entries(cases).map(([name, { why, boxes }]) => ({
      name,
      why,
      boxes: boxes.map((b) => b.name),
    })),
    steps: stepsOf(north),
    overlapping,
    stop: async () => {
      await Promise.all([north.stop(), south.stop()]);
    },
  };
}

const siteOf = (name: string, boxes: Box[]): Site => makeSite({ name, boxes, links: [], credentials });

/** All changes of the same number happen between the same two scans. */
function stepsOf(north: LiveSite): IdentityStep[] {
  const most = Math.max(...Object.values(cases).map((c) => c.steps?.length ?? 0));
  const steps: IdentityStep[] = [{ name: 'as it was', apply: async () => undefined }];
  for (let i = 0; i < most; i++) {
    const changes = Object.values(cases).flatMap((c) => c.steps?.[i] ?? []);
    steps.push({
      name: changes.map((c) => c.name).join('; '),
      apply: async () => {
        for (const change of changes) await change.apply(north);
      },
    });
  }
  return steps;
}

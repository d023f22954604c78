/** Everything about collectors, put together: how they join, who is connected, what people do with them. */
import { randomUUID } from 'node:crypto';
import { CloseCode } from '@rollcall/shared/protocol';
import pLimit from 'p-limit';
import { collectorHandlers } from './collectors.ts';
import { Roster } from './connection/roster.ts';
import { Session } from './connection/session.ts';
import { createGateway } from './connection/ws.ts';
import type { CollectorDeps } from './deps.ts';
import { createEnrolment } from './enrolment/enroll.ts';
import { installerHandlers } from './enrolment/installer.ts';
import { createIdentities } from './identity.ts';
import { lossHandlers } from './losses.ts';

/** Handshakes that ask the database at once: a crowd that comes back together waits here, not for connections. */
const HANDSHAKES = 4;
/** What came in before a stop is stored within this time. */
const DRAIN_MS = 5_000;

export type CollectorFeature = ReturnType<typeof createCollectorFeature>;

export function createCollectorFeature(deps: CollectorDeps) {
  const { db, clock, log, recordChanges, audit, jobs, hosts, addressOf } = deps;
  /** Names this process among the instances that share the database. */
  const instance = randomUUID();
  const identities = createIdentities({ db, recordChanges, audit, instance, now: () => clock.now() });
  const roster = new Roster({
    db,
    clock,
    log,
    recordChanges,
    jobs,
    instance,
    quarantineDuplicate: async (id) => {
      await identities.quarantineDuplicate(id);
      await jobs.takeAll(id, 'the collector was quarantined');
    },
  });
  const enrolment = createEnrolment(deps);
  const handshakes = pLimit(HANDSHAKES);
  const gateway = createGateway({
    clock,
    log,
    hosts,
    addressOf,
    open: (link, peer) =>
      new Session(link, peer, {
        ...deps,
        identities: {
          ...identities,
          admit: (hello, challenge) =>
            handshakes(async () => {
              const admission = await identities.admit(hello, challenge);
              if (!admission.ok && admission.code === CloseCode.quarantined)
                await jobs.takeAll(hello.collector, 'the collector was quarantined');
              return admission;
            }),
          confirm: (...args) => handshakes(() => identities.confirm(...args)),
        },
        share: () => roster.share(),
        onReady: (session) => roster.ready(session),
        onClosed: (session) => roster.gone(session),
      }),
  });

  return {
    instance,
    roster,
    enrolment,
    /** For `server.on('upgrade', …)`. */
    upgrade: gateway.upgrade,
    gateway,
    handlers: {
      ...enrolment.handlers,
      ...collectorHandlers(deps),
      ...lossHandlers(deps),
      ...installerHandlers(deps),
    },
    /** Begins to listen to the database. The returned function lets everybody go: come again soon. */
    start: async (): Promise<() => Promise<void>> => {
      const stop = await roster.start();
      return async () => {
        gateway.stopAccepting();
        await stop();
        await roster.drain(DRAIN_MS);
        gateway.close();
      };
    },
  };
}

/**
 * The composition root: builds every feature and hands each the few functions it needs of the others. Read from top to
 * bottom it is the way of the data: scans → collectors → ingest → incidents → inventory and live.
 *
 * One straight function on purpose: each step needs what the last one made, and whatever must be stopped puts its stop
 * on the list the moment it runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { COLLECTOR_PATH } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { accountHandlers, audit, ensureFirstAdmin, purgeAccounts } from './accounts/accounts.ts';
import { createCollectorFeature } from './collectors/feature.ts';
import { openHandOut } from './collectors/hand-out.ts';
import { openData, ruleFolders } from './data.ts';
import { createDeliveryFeature } from './deliveries/feature.ts';
import { forgotten, unwatched } from './incidents/device-events.ts';
import { createForgetting } from './incidents/forget.ts';
import { incidentHandlers } from './incidents/handlers.ts';
import { maintenanceHandlers } from './incidents/maintenance-routes.ts';
import { createRecorder } from './incidents/record.ts';
import { identityActions } from './ingest/identity-actions.ts';
import { openRuleBook } from './ingest/rule-book.ts';
import { openIngestThread } from './ingest-thread.ts';
import { createIngesting } from './ingesting.ts';
import { inventoryHandlers } from './inventory/handlers.ts';
import { openAuthenticator } from './kernel/auth.ts';
import { openCertificate, pinToTell, wordForSuccessor } from './kernel/certificate.ts';
import { type Config, changesOf } from './kernel/config.ts';
import type { Database } from './kernel/db.ts';
import { restApp } from './kernel/http.ts';
import { openKeyring } from './kernel/keyring.ts';
import { listen } from './kernel/listener.ts';
import { openLog } from './kernel/log.ts';
import { openMetrics } from './kernel/metrics.ts';
import { peerAddress } from './kernel/peer.ts';
import { takePulse } from './kernel/pulse.ts';
import { quietly } from './kernel/quietly.ts';
import { reseal } from './kernel/reseal.ts';
import { refreshStatistics } from './kernel/statistics.ts';
import { foldTallies } from './kernel/tally.ts';
import { webFiles } from './kernel/web.ts';
import { openLive } from './live/live.ts';
import { createScanFeature } from './scans/feature.ts';
import { openFigures } from './service/figures.ts';
import { forget } from './service/retention.ts';
import { serviceHandlers } from './service/service.ts';
import { createWatch } from './watch/watch.ts';

/** The web application: beside the packages in a checkout, beside the bundle in an installation. */
const WEB = fileURLToPath(new URL('../../web/dist/site/', import.meta.url));

/** Parts of the collector's package, in an installation: what a site installs from here. */
const COLLECTOR = fileURLToPath(new URL('../../../collector/', import.meta.url));

/** Requests and batches that are under way at a stop have this long. */
const GRACE_MS = 3_000;
/** How often is decided what only time decides: hold times, silences, expiry. */
const TEND_MS = 50;
/** How often counts that were appended are folded together. */
const FOLD_MS = 10_000;
/** How often tables are looked for that the planner knows no more. */
const STATISTICS_MS = 5_000;
/** How often is deleted what is old enough. */
const PURGE_MS = 3_600_000;
/** Most credentials of a site that its watch uses. */
const WATCH_CREDENTIALS = 1024;

export interface Server {
  /** Where it answers, with its port. */
  url: string;
  /** The account that this start made, because there was none; its password is known only here. */
  firstAdmin: { name: string; password: string } | null;
  db: Database;
  /** Why it should be started again, as far as it can tell; null when all is well. For a watchdog. */
  ailment(): string | null;
  /** Takes over what can change while it runs; answers which settings did, and which wait for the next start. */
  apply(config: Config): { changed: string[]; atNextStart: string[] };
  /** Nothing new, what runs ends, collectors are told to come again, the database is closed. */
  stop(): Promise<void>;
}

export interface StartOptions {
  log?: Logger;
  clock?: Clock;
  /** Answers that do not fit their schema become errors: for tests. */
  checkResponses?: boolean;
}

/** Starts one server process. Throws a StartError whose message is one line that says what to do. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<Server> {
  const { log = openLog(config), clock = systemClock } = options;
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    return await start();
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<Server> {
    const { db, applied, close } = await openData(config, log);
    stops.push(close);
    if (applied.length > 0) log.info({ applied }, 'the schema is up to date');
    if (db.kind === 'pglite')
      log.warn('embedded database: for trials and small sites; a power cut may lose what was stored last');
    const auth = await openAuthenticator({ db, clock, log });
    stops.push(() => auth.close());
    const metrics = openMetrics();
    const keyring = openKeyring({
      folder: config.dataFolder,
      file: config.keyFile,
      credentialsDirectory: config.credentialsDirectory,
    });

    const certificate = await openCertificate(config, { clock, log });
    stops.push(certificate.stop);

    const incidents = createRecorder({ db, clock, log });
    const scans = createScanFeature({
      db,
      clock,
      log,
      audit,
      keyring,
      raise: incidents.record,
      maxAddresses: config.scanAddresses,
    });
    const rules = openRuleBook({ db, log, folders: ruleFolders(config) });
    // A thread beside this one, so that people are answered while collectors pour; the embedded database has one session.
    const ingest =
      config.databaseUrl === undefined
        ? createIngesting({ db, clock, log, rules })
        : openIngestThread(
            { databaseUrl: config.databaseUrl.reveal(), folders: ruleFolders(config) },
            { clock, log },
          );
    const watch = createWatch({
      db,
      log,
      credentialsOf: (siteId) => scans.credentials.ofSite(siteId, null, WATCH_CREDENTIALS),
    });
    const collectors = createCollectorFeature({
      db,
      clock,
      log,
      audit,
      raise: incidents.record,
      jobs: scans.queue,
      accept: async (unread) => {
        const stored = await ingest.take(unread);
        figures.stored(unread.stream, stored.count);
        return stored;
      },
      credentialsFor: scans.credentials.forJob,
      ruleset: rules.ruleset,
      watchList: watch.follow,
      handOut: openHandOut(COLLECTOR, join(config.dataFolder, 'collectors'), log),
      pin: () => pinToTell(config, certificate.files),
      successor: () => wordForSuccessor(config, certificate.files, log),
      publicUrl: config.publicUrl,
      addressOf: peerAddress(config.trustedProxies),
    });
    const figures = openFigures({
      db,
      registry: metrics.registry,
      certFile: certificate.files?.certFile,
      turnedAway: () => ({ joins: collectors.enrolment.counts, connections: collectors.gateway.counts }),
    });
    const live = await openLive({ db, clock, log, watch: auth.watch });
    stops.push(() => live.close());

    const deliveries = createDeliveryFeature({
      db,
      clock,
      log,
      keyring,
      audit,
      raise: incidents.record,
      publicUrl: config.publicUrl,
    });

    let accepting = true;
    const app = restApp({
      auth,
      log,
      handlers: {
        ...accountHandlers({ db, clock, forget: auth.forget }),
        ...serviceHandlers({
          db,
          clock,
          metrics,
          refresh: () => figures.refresh(),
          accepting: () => accepting,
        }),
        ...scans.handlers,
        ...collectors.handlers,
        ...inventoryHandlers({
          db,
          clock,
          identity: {
            ...identityActions({ db, clock, record: incidents.record }),
            reclassify: rules.reclassify,
          },
          events: { unwatched, forgotten },
        }),
        ...incidentHandlers({ db, clock }),
        ...maintenanceHandlers({ db, clock, audit }),
        ...deliveries.handlers,
        ...live.handlers,
      },
      trustedProxies: config.trustedProxies,
      ratePerMinute: config.ratePerMinute,
      observe: metrics.request,
      ...(options.checkResponses ? { checkResponses: true } : {}),
      ...(existsSync(join(WEB, 'index.html')) ? { web: webFiles(WEB) } : {}),
    });

    await reseal(db, keyring, log);
    stops.push(await ingest.start());
    stops.push(await scans.start());
    stops.push(deliveries.start());
    stops.push(clock.every(TEND_MS, quietly({ clock, log }, 'tending events', incidents.tend)));
    stops.push(
      clock.every(
        FOLD_MS,
        quietly({ clock, log }, 'folding tallies', () => foldTallies(db)),
      ),
    );
    stops.push(
      clock.every(
        STATISTICS_MS,
        quietly({ clock, log }, 'renewing statistics', () => refreshStatistics(db)),
      ),
    );
    stops.push(
      clock.every(
        PURGE_MS,
        quietly({ clock, log }, 'purging accounts', () => purgeAccounts({ db, clock })),
      ),
    );
    stops.push(
      clock.every(
        PURGE_MS,
        quietly({ clock, log }, 'forgetting by age', () => forget({ db, clock })),
      ),
    );
    const forgetting = createForgetting({ db, clock, log, audit });
    stops.push(
      clock.every(
        PURGE_MS,
        quietly({ clock, log }, 'forgetting events and cases', () => forgetting(config.eventDays)),
      ),
    );
    const listener = await listen(app, { ...config, tls: certificate.files }, { log, clock });
    stops.push(() => listener.stop(GRACE_MS));
    // Not before the port is ours: a start that fails would take the only showing of the password with it.
    const firstAdmin = await ensureFirstAdmin(db);
    listener.onUpgrade(collectors.upgrade);
    stops.push(await collectors.start());
    stops.push(() => {
      accepting = false;
    });
    log.info({ url: listener.url, database: db.kind, collectors: COLLECTOR_PATH }, 'ready');
    const pulse = takePulse({ db, clock, log });
    stops.push(pulse.stop);
    return {
      url: listener.url,
      firstAdmin,
      db,
      ailment: () => (listener.server.listening ? pulse.ailment() : 'it listens no more'),
      apply: (changed) => {
        const before = config;
        config = changed;
        log.level = changed.logLevel;
        listener.server.maxConnections = changed.connections;
        return changesOf(before, changed, ['logLevel', 'connections', 'eventDays']);
      },
      stop,
    };
  }
}

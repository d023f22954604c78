/**
 * The composition root: builds every feature and passes it the few functions that it needs of the others, in the order of
 * the data flow: scans → gateway → ingest → incidents → catalog and live. Whatever must be stopped puts its stop on the
 * list when it starts.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { COLLECTOR_PATH } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { accountHandlers, audit, ensureFirstAdmin, purgeAccounts } from './accounts/accounts.ts';
import { catalogHandlers } from './catalog/feature.ts';
import { createCredentialFeature } from './credentials/feature.ts';
import { MAKERS, openData, ruleFolders } from './data.ts';
import { createDeliveryFeature } from './deliveries/feature.ts';
import { endpointHandlers } from './endpoints/feature.ts';
import { findEndpoints } from './endpoints/list.ts';
import { openMakers } from './endpoints/makers.ts';
import { recordEndpointChanges } from './endpoints/record.ts';
import { openHandOut } from './gateway/enrolment/packages.ts';
import { createCollectorFeature } from './gateway/feature.ts';
import { createIncidentFeature } from './incidents/feature.ts';
import { openRuleBook } from './ingest/classification/rule-book.ts';
import { identityActions } from './ingest/identity/actions.ts';
import { strengthOf } from './ingest/identity/fingerprint.ts';
import { openIngestThread } from './ingest-thread.ts';
import { createIngesting } from './ingesting.ts';
import { labHandlers } from './lab/feature.ts';
import { openLive } from './live/live.ts';
import { createMeasurementFeature } from './measurements/feature.ts';
import { openAuthenticator } from './platform/access/auth.ts';
import type { Database } from './platform/db/db.ts';
import { refreshStatistics } from './platform/db/statistics.ts';
import { compactTallies } from './platform/db/tally.ts';
import { allHandlers } from './platform/http/handler.ts';
import { restApp } from './platform/http/http.ts';
import { listen } from './platform/http/listener.ts';
import { peerAddress } from './platform/http/peer.ts';
import { webFiles } from './platform/http/web.ts';
import { crossSignature, openCertificate, publishedPin } from './platform/keys/certificate.ts';
import { openKeyring } from './platform/keys/keyring.ts';
import { reseal } from './platform/keys/reseal.ts';
import { type Config, changesOf } from './platform/ops/config.ts';
import { startHealthCheck } from './platform/ops/health-check.ts';
import { openLog } from './platform/ops/log.ts';
import { openMetrics } from './platform/ops/metrics.ts';
import { startPeriodic } from './platform/ops/periodic.ts';
import { createScanFeature } from './scans/feature.ts';
import { searchHandlers } from './search/feature.ts';
import { reportHealth } from './service/dead-mans-switch.ts';
import { openFigures } from './service/figures.ts';
import { forget } from './service/retention.ts';
import { createSelfCheck } from './service/self-check.ts';
import { serviceHandlers } from './service/service.ts';
import { Storing } from './service/storing.ts';
import { createWatch } from './watch/watch.ts';

/** The web application: beside the packages in a checkout, beside the bundle in an installation. */
const WEB = fileURLToPath(new URL('../../web/dist/site/', import.meta.url));

/** Parts of the collector's package, in an installation: what a site installs from here. */
const COLLECTOR = fileURLToPath(new URL('../../../collector/', import.meta.url));

/** Requests and batches that are under way at a stop have this long. */
const GRACE_MS = 3_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Most credentials of a site that its watch uses. */
const WATCH_CREDENTIALS = 1024;

export interface Server {
  /** Where it answers, with its port. */
  url: string;
  /** The account that this start made, because there was none; its password is known only here. */
  firstAdmin: { name: string; password: string } | null;
  db: Database;
  /** Why it should be started again, as far as it can tell; null when all is well. For a watchdog. */
  unhealthyReason(): string | null;
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
  /** Unix socket of the demonstration's lab: people may break things in it. */
  lab?: string;
}

/** Starts one server process. Throws a StartError whose message is one line that says what to do. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<Server> {
  const stops: Stops = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    return { ...(await start(config, options, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What ends a part, in the order of their starts. */
type Stops = (() => unknown)[];

async function start(config: Config, options: StartOptions, stops: Stops): Promise<Omit<Server, 'stop'>> {
  const base = await openBase(config, options, stops);
  const { db, clock, log, certificate } = base;
  const features = await createFeatures(config, base, stops);
  const { incidents, scans, collectors, deliveries, ingest, measurements } = features;

  let current = config;
  let accepting = true;
  const app = restApp({
    auth: base.auth,
    log,
    handlers: handlersOf(config, base, features, { accepting: () => accepting, lab: options.lab }),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    secondFactorRequired: config.secondFactor === 'required',
    ratePerMinute: config.ratePerMinute,
    observe: base.metrics.request,
    ...(options.checkResponses ? { checkResponses: true } : {}),
    ...(existsSync(join(WEB, 'index.html')) ? { web: webFiles(WEB) } : {}),
  });

  await reseal(db, base.keyring, log);
  stops.push(await ingest.start());
  await scans.seed();
  stops.push(deliveries.start());
  stops.push(
    startPeriodic({ clock, log }, [
      { what: 'deciding which events are due', everyMs: 50, run: incidents.evaluateDue },
      { what: 'taking back leases that ran out', everyMs: 2_000, run: scans.queue.reap },
      { what: 'starting scans by their schedules', everyMs: 5_000, run: scans.runSchedules },
      { what: 'renewing table statistics', everyMs: 5_000, run: () => refreshStatistics(db) },
      { what: 'compacting counts', everyMs: 10_000, run: () => compactTallies(db) },
      { what: 'deleting ended sessions', everyMs: HOUR_MS, run: () => purgeAccounts({ db, clock }) },
      { what: 'checking this server', everyMs: 30_000, run: features.selfCheck },
      { what: 'rolling up samples', everyMs: 30_000, run: measurements.rollUp },
      { what: 'writing samples to their engine', everyMs: 5_000, run: measurements.ship },
      { what: 'keeping the charts of events', everyMs: 10_000, run: measurements.keepEventCharts },
      { what: 'deleting old measurements', everyMs: HOUR_MS, run: measurements.forget },
      {
        what: 'finding endpoints that moved',
        everyMs: MINUTE_MS,
        run: () => recordEndpointChanges({ db, clock, log }),
      },
      { what: 'deleting what is too old', everyMs: HOUR_MS, run: () => forget({ db, clock }) },
      {
        what: 'deleting old events and cases',
        everyMs: HOUR_MS,
        run: () => incidents.deleteOld(current.eventDays),
      },
    ]),
  );
  const listener = await listen(app, { ...config, tls: certificate.files }, { log, clock });
  stops.push(() => listener.stop(GRACE_MS));
  // Only now that the port is ours: the password is shown once, and a start that fails would lose it.
  const firstAdmin = await ensureFirstAdmin(db);
  listener.onUpgrade(collectors.upgrade);
  stops.push(await collectors.start());
  stops.push(() => {
    accepting = false;
  });
  log.info({ url: listener.url, database: db.kind, collectors: COLLECTOR_PATH }, 'ready');
  const health = startHealthCheck({ db, clock, log });
  stops.push(health.stop);
  const unhealthyReason = () =>
    listener.server.listening ? health.unhealthyReason() : 'it is not listening';
  const servingReason = () => unhealthyReason() ?? health.servingReason() ?? features.storing.refusal();
  const aliveUrl = config.aliveUrl?.reveal();
  if (aliveUrl !== undefined)
    stops.push(
      startPeriodic({ clock, log }, [
        {
          what: 'telling the service outside that this server works',
          everyMs: MINUTE_MS,
          run: () => reportHealth(aliveUrl, { servingReason, clock }),
        },
      ]),
    );
  return {
    url: listener.url,
    firstAdmin,
    db,
    unhealthyReason,
    apply: (changed) => {
      const before = current;
      current = changed;
      log.level = changed.logLevel;
      listener.server.maxConnections = changed.connections;
      return changesOf(before, changed, ['logLevel', 'connections', 'eventDays']);
    },
  };
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** What every feature may use: the database, callers, figures, keys. */
async function openBase(config: Config, options: StartOptions, stops: Stops) {
  const { log = openLog(config), clock = systemClock } = options;
  const { db, applied, close } = await openData(config, log);
  stops.push(close);
  if (applied.length > 0) log.info({ applied }, 'the schema is up to date');
  if (db.kind === 'pglite')
    log.warn('embedded database: for trials and small sites; a power cut may lose what was stored last');
  const auth = await openAuthenticator({ db, clock, log });
  stops.push(() => auth.close());
  const keyring = openKeyring({
    folder: config.dataFolder,
    file: config.keyFile,
    credentialsDirectory: config.credentialsDirectory,
  });
  const certificate = await openCertificate(config, { clock, log });
  stops.push(certificate.stop);
  return { db, clock, log, auth, keyring, certificate, metrics: openMetrics() };
}

type Features = Awaited<ReturnType<typeof createFeatures>>;

async function createFeatures(config: Config, base: Base, stops: Stops) {
  const { db, clock, log, auth, keyring, certificate, metrics } = base;
  const incidents = createIncidentFeature({ db, clock, log, audit });
  const { recordChanges } = incidents;
  const scans = createScanFeature({
    db,
    clock,
    log,
    audit,
    recordChanges,
    maxAddresses: config.scanAddresses,
  });
  const credentials = createCredentialFeature({ db, log, audit, keyring });
  const folders = ruleFolders(config);
  const rules = openRuleBook({ db, log, folders });
  const samples = { toEngine: config.metrics !== undefined, sampleDays: config.metricDays.samples };
  // In a thread of its own, so that API requests take priority; the embedded database has only one session.
  const ingest =
    config.databaseUrl === undefined
      ? createIngesting({ db, clock, log, rules, samples })
      : openIngestThread({ databaseUrl: config.databaseUrl.reveal(), folders, samples }, { clock, log });
  const storing = new Storing(clock);
  const watch = createWatch({
    db,
    log,
    credentialsOf: (siteId) => credentials.ofSite(siteId, null, WATCH_CREDENTIALS),
  });
  const collectors = createCollectorFeature({
    db,
    clock,
    log,
    audit,
    recordChanges,
    jobs: scans.queue,
    accept: async (waiting) => {
      const stored = await storing.watch(waiting, ingest.take);
      figures.stored(waiting.stream, stored.count);
      return stored;
    },
    credentialsFor: credentials.forJob,
    ruleset: rules.ruleset,
    watchList: watch.follow,
    handOut: openHandOut(COLLECTOR, join(config.dataFolder, 'collectors'), log),
    pin: () => publishedPin(config, certificate.files),
    successor: () => crossSignature(config, certificate.files, log),
    publicUrl: config.publicUrl,
    addressOf: peerAddress(config.trustedProxies),
  });
  const figures = openFigures({
    db,
    registry: metrics.registry,
    certFile: certificate.files?.certFile,
    turnedAway: () => ({ joins: collectors.enrolment.counts, connections: collectors.gateway.counts }),
  });
  const selfCheck = createSelfCheck({
    db,
    clock,
    recordChanges,
    dataFolder: config.dataFolder,
    certFile: certificate.files?.certFile,
  });
  const live = await openLive({ db, clock, log, watch: auth.watch });
  stops.push(() => live.close());
  const { publicUrl } = config;
  const deliveries = createDeliveryFeature({
    ...{ db, clock, log, keyring, audit, recordChanges, publicUrl },
    acknowledgeCase: incidents.acknowledgeCase,
    eventKinds: incidents.eventKinds,
  });
  const measurements = createMeasurementFeature({
    ...{ db, clock, log, recordChanges, audit },
    days: config.metricDays,
    engine: config.metrics,
  });
  return {
    incidents,
    scans,
    credentials,
    rules,
    ingest,
    storing,
    collectors,
    figures,
    selfCheck,
    live,
    deliveries,
    measurements,
  };
}

/** The handlers of every operation, by feature. */
function handlersOf(
  { oidc, secondFactor }: Config,
  { db, clock, log, keyring, auth, metrics }: Base,
  features: Features,
  { accepting, lab }: { accepting: () => boolean; lab: string | undefined },
) {
  const { incidents, scans, credentials, rules, collectors, figures, live, deliveries, measurements } =
    features;
  const makers = openMakers(MAKERS);
  return allHandlers(
    accountHandlers({
      ...{ db, clock, log, keyring, forget: auth.forget, oidc },
      secondFactorRequired: secondFactor === 'required',
    }),
    serviceHandlers({ db, clock, metrics, refresh: () => figures.refresh(), accepting }),
    scans.handlers,
    credentials.handlers,
    collectors.handlers,
    catalogHandlers({
      db,
      clock,
      identity: {
        ...identityActions({ db, clock, recordChanges: incidents.recordChanges }),
        reclassify: rules.reclassify,
        strengthOf,
      },
      events: incidents.events,
      audit,
      makerOf: makers.of,
    }),
    incidents.handlers,
    deliveries.handlers,
    live.handlers,
    measurements.handlers,
    endpointHandlers({ db, makers, clock }),
    labHandlers({ db, audit, socket: lab }),
    searchHandlers({
      db,
      findEndpoints: (text, within) =>
        findEndpoints(db, text, { ...within, makers, now: Math.floor(clock.now() / 1000) }),
    }),
  );
}

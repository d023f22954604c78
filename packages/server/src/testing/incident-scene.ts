/** A site whose changes are recorded as events and cases, with the time in the test's hand. */
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import type { Change } from '../changes.ts';
import { incidentHandlers } from '../incidents/handlers.ts';
import { createRecorder, type Recorder } from '../incidents/record.ts';
import type { Database } from '../platform/db/db.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from './rows.ts';

export interface ShownEvent {
  kind: string;
  status: number;
  count: number;
  device: string | null;
  caseId: string | null;
  message: string;
  severity: number;
  closeReason: string | null;
  id: string;
  details: Record<string, unknown>;
  firstSeen: number;
  closedAt: number | null;
  interfaceId: string | null;
  source: string;
  acknowledgedUntil: string | null;
}

export class Scene {
  /** Of the test at hand. */
  db!: Database;
  site = '';
  recorder!: Recorder;
  /** Unix milliseconds. */
  now = 0;
  /** What the recorder said. */
  said: { level: number; msg: string; [field: string]: unknown }[] = [];
  readonly log = pino({ level: 'warn' }, { write: (line: string) => void this.said.push(JSON.parse(line)) });
  /** Ids by name. */
  readonly devices = new Map<string, string>();
  readonly clock: Clock = {
    now: () => this.now,
    monotonic: () => this.now,
    sleep: async () => undefined,
    every: () => () => undefined,
  };

  /** Before each test: a site of its own. */
  async begin(open: () => Promise<Database>): Promise<void> {
    this.db ??= await open();
    this.now = Date.parse('2026-11-20T12:00:00Z');
    this.recorder = createRecorder({ db: this.db, clock: this.clock, log: this.log });
    this.devices.clear();
    this.said = [];
    this.site = await addSite(this.db, uuidv7());
  }

  /** Devices by name, each watched and up. */
  readonly network = async (names: string[], cables: string[] = []): Promise<void> => {
    const ids = await addDevices(
      this.db,
      names.map((name) => ({ site_id: this.site, name, monitor: true, status: 'up', icmp_reachable: true })),
    );
    for (const [i, name] of names.entries()) this.devices.set(name, ids[i] ?? '');
    await insert(
      this.db,
      'neighbours',
      cables.map((cable) => {
        const [a = '', b = ''] = cable.split('>');
        return {
          site_id: this.site,
          device_id: this.devices.get(a),
          remote_device_id: this.devices.get(b),
          protocol: 'lldp',
          key: cable,
          addresses: [],
          first_seen: SEEN,
          last_seen: SEEN,
        };
      }),
    );
  };
  readonly about = (name: string) => ({
    siteId: this.site,
    at: this.now,
    collectorId: null,
    deviceId: this.devices.get(name) ?? null,
    deviceName: name,
    address: null,
    monitor: true,
  });
  readonly tell = (...changes: Change[]) =>
    this.db.transaction((sql) => this.recorder.recordChanges(sql, changes));
  readonly down = (name: string): Change => ({
    ...this.about(name),
    kind: 'device.down',
    before: {},
    after: { icmp: 'down' },
  });
  readonly up = (name: string): Change => ({
    ...this.about(name),
    kind: 'device.up',
    before: {},
    after: { icmp: 'up' },
  });
  readonly state = (name: string, id: string, before: number, after: number, admin = 1): Change => ({
    ...this.about(name),
    kind: 'interface.state',
    interfaceId: id,
    ifName: 'Gi1',
    before: { adminStatus: 1, operStatus: before },
    after: { adminStatus: admin, operStatus: after },
  });
  /** What the watch does beside telling it. */
  readonly mark = (name: string, status: 'up' | 'down') =>
    this.db.query('UPDATE devices SET status = $2 WHERE id = $1', [this.devices.get(name), status]);
  readonly wait = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 5) {
      this.now += Math.min(5, seconds - i) * 1000;
      await this.recorder.evaluateDue();
    }
  };
  readonly handlers = () =>
    asCaller(
      incidentHandlers({ db: this.db, clock: this.clock, audit: async () => undefined }),
      caller('operator', [this.site]),
    );
  readonly events = async (): Promise<ShownEvent[]> =>
    (await this.handlers()('events.list', { query: { pageSize: '1000', sort: 'timestamp' } })).data;
  readonly cases = async () =>
    (await this.handlers()('cases.list', { query: { sort: 'createdAt' } })).data as {
      id: string;
      title: string;
      status: number;
      severity: number;
      eventCount: number;
      openEventCount: number;
      rootDeviceId: string | null;
    }[];
  readonly words = async () =>
    (await this.events())
      .map((e) => `${e.kind} ${e.device ?? '-'} ${['open', 'acknowledged', 'closed'][e.status]}`)
      .sort();
}

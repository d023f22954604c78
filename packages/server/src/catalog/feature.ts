import type { Clock } from '@rollcall/shared/clock';
import { isUuid } from '@rollcall/shared/uuid';
import type { Database } from '../platform/db/db.ts';
import { type Scope, scopeOf } from '../platform/db/list.ts';
import type { Actor, Handlers } from '../platform/http/handler.ts';
import { notFound } from '../platform/problem.ts';
import type { Audit, MakerOf } from '../ports.ts';
import { type AddIds, addHandlers, type ByAddress } from './add/feature.ts';
import { type FieldIds, fieldHandlers } from './annotations/handlers.ts';
import { readDeviceAt } from './device-at.ts';
import { goneDevice, listDevices, readDevice } from './devices.ts';
import { bulkChange, deleteDevice, type EventActions, type Note, patchDevice } from './edit.ts';
import { annotateInterface, bulkChangeInterfaces } from './edit-interfaces.ts';
import { deviceExists, deviceHistory, explainDevice, type StrengthOf } from './explain.ts';
import { type ExportIds, exportHandlers } from './export/feature.ts';
import { listFreePorts } from './free-ports.ts';
import { listInterfaces } from './interfaces.ts';
import { listArp, readVlans, readVrfs } from './tables.ts';
import { readTopology } from './topology.ts';

/** Who decides, and how it is written down in the transaction of the deed. */
interface By {
  userId: string;
  name: string;
  note: Note;
}

/** What people decide about identity; ingest carries it out. Every id was checked to be in the caller's scope. */
export interface IdentityActions extends ByAddress {
  /** `otherId` is `deviceId`. Fails with Problem `conflict` across sites. @returns the id that is left. */
  merge(by: By, deviceId: string, otherId: string): Promise<string>;
  /** The addresses are another device. Fails with Problem `conflict` when they are not its own, or all of it. */
  split(by: By, deviceId: string, addresses: readonly string[]): Promise<string[]>;
  /** Applies the rules to the stored facts of a device again. */
  reclassify(siteId: string, deviceId: string): Promise<void>;
  strengthOf: StrengthOf;
}

export interface CatalogDeps {
  db: Database;
  clock: Clock;
  identity: IdentityActions;
  events: EventActions;
  audit: Audit;
  makerOf: MakerOf;
}

type Ids =
  | 'devices.list'
  | 'devices.get'
  | 'devices.update'
  | 'devices.delete'
  | 'devices.bulk'
  | 'devices.merge'
  | 'devices.split'
  | 'devices.history'
  | 'devices.explain'
  | 'devices.vlans'
  | 'devices.vrfs'
  | 'devices.arp'
  | 'interfaces.list'
  | 'interfaces.free'
  | 'interfaces.update'
  | 'interfaces.bulk'
  | 'topology.get'
  | AddIds
  | FieldIds
  | ExportIds;

/** `1 device`, `2 devices`. */
const countOf = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

export function catalogHandlers(deps: CatalogDeps): Handlers<Ids> {
  const { db, clock, identity, events, audit, makerOf } = deps;
  const read = async (id: string, scope: Scope) => {
    const device = await readDevice(db, id, scope, clock.now());
    if (!device) throw await goneDevice(db, id, scope);
    return device;
  };
  const brief = async (id: string, actor: Actor) => {
    const {
      neighbours: _n,
      links: _l,
      entities: _e,
      openCases: _c,
      origins: _o,
      asOf: _a,
      ...device
    } = await read(id, scopeOf(actor));
    return device;
  };
  const mustExist = async (id: string, scope: Scope) => {
    if (!(await deviceExists(db, id, scope))) throw notFound('device');
  };
  /** Into the audit log: what somebody does to a device. */
  const note =
    (
      { actor, address }: { actor: Actor; address: string },
      verb: string,
      detail?: Record<string, unknown>,
    ): Note =>
    (sql, { id, name, siteId }) =>
      audit(sql, {
        ...{ actor, address, siteId },
        action: `device.${verb}`,
        subject: `device ${name}`,
        detail: { id, ...detail },
      });
  return {
    ...exportHandlers({ db }),
    ...fieldHandlers({ db, audit }),
    ...addHandlers({ db, clock, devices: identity, events, note, read: brief }),
    'devices.list': async ({ query, actor }) => {
      const scope = scopeOf(actor, query.site);
      return listDevices(db, query, { scope, now: clock.now() });
    },
    'devices.get': async ({ params: { id }, query: { at }, actor }) => {
      const scope = scopeOf(actor);
      if (at === undefined) return { data: await read(id, scope) };
      const data = await readDeviceAt(db, id, { scope, at, now: clock.now() });
      if (!data) throw await goneDevice(db, id, scope);
      return { data };
    },
    'devices.update': async ({ params: { id }, body, actor, address }) => {
      const siteId = await patchDevice(db, events, {
        id,
        patch: body,
        scope: scopeOf(actor),
        by: { name: actor.name, at: clock.now() },
        note: note({ actor, address }, 'update', body),
      });
      if (siteId === null) throw notFound('device');
      if (body.class === null) await identity.reclassify(siteId, id);
      return { data: await brief(id, actor) };
    },
    'devices.delete': async ({ params: { id }, actor, address }) => {
      const deleted = await deleteDevice(db, events, {
        id,
        scope: scopeOf(actor),
        by: actor.name,
        at: clock.now(),
        note: note({ actor, address }, 'delete'),
      });
      if (!deleted) throw notFound('device');
      return { data: null };
    },
    'devices.bulk': async ({ body: { filter, set, expect }, actor, address }) => {
      const data = await bulkChange(db, events, {
        ...{ filter, set, expect, scope: scopeOf(actor, filter.site) },
        by: { name: actor.name, at: clock.now() },
        note: (sql, changed) =>
          audit(sql, {
            ...{ actor, address, action: 'device.bulk', subject: countOf(changed, 'device') },
            ...(filter.site && { siteId: filter.site }),
            detail: { filter, set },
          }),
      });
      return { data };
    },
    'devices.merge': async ({ params: { id }, body, actor, address }) => {
      await mustExist(id, scopeOf(actor));
      await mustExist(body.deviceId, scopeOf(actor));
      const written = note({ actor, address }, 'merge', { merged: [id, body.deviceId] });
      const by = { userId: actor.userId, name: actor.name, note: written };
      return { data: await brief(await identity.merge(by, id, body.deviceId), actor) };
    },
    'devices.split': async ({ params: { id }, body, actor, address }) => {
      await mustExist(id, scopeOf(actor));
      const written = note({ actor, address }, 'split', { addresses: body.addresses });
      const by = { userId: actor.userId, name: actor.name, note: written };
      const ids = await identity.split(by, id, body.addresses);
      const devices = await Promise.all([...new Set([id, ...ids])].map((each) => brief(each, actor)));
      return { data: { devices: devices.map(({ id, address, name }) => ({ id, address, name })) } };
    },
    'devices.history': async ({ params: { id }, query, actor }) => {
      const scope = scopeOf(actor);
      await mustExist(id, scope);
      return deviceHistory(db, id, query, scope);
    },
    'devices.explain': async ({ params: { id }, actor }) => {
      const explanation = await explainDevice(db, id, {
        scope: scopeOf(actor),
        strengthOf: identity.strengthOf,
      });
      if (!explanation) throw notFound('device');
      return { data: explanation };
    },
    'devices.vlans': async ({ params: { id }, actor }) => {
      await mustExist(id, scopeOf(actor));
      return { data: await readVlans(db, id) };
    },
    'devices.vrfs': async ({ params: { id }, actor }) => {
      await mustExist(id, scopeOf(actor));
      return { data: await readVrfs(db, id) };
    },
    'devices.arp': async ({ params: { id }, query, actor }) => {
      const scope = scopeOf(actor);
      await mustExist(id, scope);
      return listArp(db, id, query, makerOf);
    },
    'interfaces.list': async ({ query, actor }) => {
      if (!isUuid(query.deviceId)) throw notFound('device');
      await mustExist(query.deviceId, scopeOf(actor, query.site));
      return listInterfaces(db, query, { makerOf, now: clock.now() });
    },
    'interfaces.free': async ({ query, actor }) =>
      listFreePorts(db, query, { scope: scopeOf(actor, query.site), now: clock.now() }),
    'interfaces.update': async ({ params: { id }, body, actor, address }) => {
      const patch = { id, patch: body, scope: scopeOf(actor), by: { name: actor.name, at: clock.now() } };
      const data = await annotateInterface(db, patch, (sql, { siteId, name }) =>
        audit(sql, {
          ...{ actor, address, siteId, action: 'interface.update', subject: `interface ${name}` },
          detail: { id, ...body },
        }),
      );
      if (!data) throw notFound('interface');
      return { data };
    },
    'interfaces.bulk': async ({ body: { filter, set, expect }, actor, address }) => {
      if (!isUuid(filter.deviceId)) throw notFound('device');
      const scope = scopeOf(actor, filter.site);
      const by = { name: actor.name, at: clock.now() };
      const data = await bulkChangeInterfaces(
        db,
        { filter, set, expect, scope, by },
        (changed) => (sql, device) =>
          audit(sql, {
            ...{ actor, address, siteId: device.siteId, action: 'interface.bulk' },
            subject: `${countOf(changed, 'interface')} of device ${device.name}`,
            detail: { filter, set },
          }),
      );
      return { data };
    },
    'topology.get': async ({ query, actor }) => ({
      data: await readTopology(db, scopeOf(actor, query.site)),
    }),
  };
}

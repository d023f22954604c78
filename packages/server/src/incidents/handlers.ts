import type { AcknowledgedUntil } from '@rollcall/shared/api/incidents';
import type { Clock } from '@rollcall/shared/clock';
import { EventStatus } from '@rollcall/shared/model';
import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import type { Actor, Handlers } from '../platform/http/handler.ts';
import { notFound } from '../platform/problem.ts';
import type { Audit } from '../ports.ts';
import { addEvents, createCase, mergeCases, splitCase } from './cases/by-hand.ts';
import { commentCase, patchCase } from './cases/change.ts';
import { listCases, readCase } from './cases/list.ts';
import { listEvents, readEvent } from './events/list.ts';
import { workEvent } from './events/work.ts';

type Ids =
  | 'events.list'
  | 'events.get'
  | 'events.acknowledge'
  | 'events.close'
  | 'cases.list'
  | 'cases.get'
  | 'cases.create'
  | 'cases.update'
  | 'cases.comment'
  | 'cases.addEvents'
  | 'cases.merge'
  | 'cases.split';

interface Deps {
  db: Database;
  clock: Clock;
  audit: Audit;
}

export function incidentHandlers({ db, clock, audit }: Deps): Handlers<Ids> {
  const event = async (id: string, actor: Actor) => {
    const found = await readEvent(db, id, scopeOf(actor));
    if (!found) throw notFound('event');
    return { data: found };
  };
  const theCase = async (id: string, actor: Actor) => {
    const found = await readCase(db, id, scopeOf(actor));
    if (!found) throw notFound('case');
    return { data: found };
  };
  const move = async (
    id: string,
    to: EventStatus,
    { actor, address }: { actor: Actor; address: string },
    until?: AcknowledgedUntil,
  ) => {
    await workEvent(db, {
      ...{ id, to, actor, address, audit, scope: scopeOf(actor), at: clock.now() },
      ...(until && { until }),
    });
    return event(id, actor);
  };
  const doing = ({ actor, address }: { actor: Actor; address: string }) => ({
    ...{ actor, address, audit },
    at: clock.now(),
  });
  return {
    'events.list': async ({ query, actor }) => {
      return listEvents(db, query, scopeOf(actor, query.site));
    },
    'events.get': ({ params, actor }) => event(params.id, actor),
    'events.acknowledge': ({ params, body, ...by }) =>
      move(params.id, EventStatus.acknowledged, by, body.until),
    'events.close': ({ params, ...by }) => move(params.id, EventStatus.closed, by),
    'cases.list': async ({ query, actor }) => {
      return listCases(db, query, scopeOf(actor, query.site), actor.userId);
    },
    'cases.get': ({ params, actor }) => theCase(params.id, actor),
    'cases.create': async ({ body, ...by }) => theCase(await createCase(db, body, doing(by)), by.actor),
    'cases.update': async ({ params: { id }, body, ...by }) => {
      await patchCase(db, id, body, doing(by));
      return theCase(id, by.actor);
    },
    'cases.comment': async ({ params: { id }, body, ...by }) => ({
      data: await commentCase(db, id, body.text, doing(by)),
    }),
    'cases.addEvents': async ({ params: { id }, body, ...by }) => {
      await addEvents(db, id, body.eventIds, doing(by));
      return theCase(id, by.actor);
    },
    'cases.merge': async ({ params: { id }, body, ...by }) => {
      await mergeCases(db, id, body.caseId, doing(by));
      return theCase(id, by.actor);
    },
    'cases.split': async ({ params: { id }, body, ...by }) =>
      theCase(await splitCase(db, id, body, doing(by)), by.actor),
  };
}

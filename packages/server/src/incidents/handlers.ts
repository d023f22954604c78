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
    await workEvent(db, { id, to, actor, scope: scopeOf(actor), at: clock.now(), ...(until && { until }) });
    const answer = await event(id, actor);
    const { siteId, kind, message } = answer.data;
    const action = to === EventStatus.closed ? 'event.close' : 'event.acknowledge';
    await audit(db, {
      actor,
      address,
      action,
      subject: `event ${message.slice(0, 200)}`,
      siteId,
      detail: { id, kind },
    });
    return answer;
  };
  const doing = (actor: Actor) => ({ actor, at: clock.now() });
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
    'cases.create': async ({ body, actor }) => theCase(await createCase(db, body, doing(actor)), actor),
    'cases.update': async ({ params: { id }, body, actor }) => {
      await patchCase(db, id, body, doing(actor));
      return theCase(id, actor);
    },
    'cases.comment': async ({ params: { id }, body, actor }) => ({
      data: await commentCase(db, id, body.text, doing(actor)),
    }),
    'cases.addEvents': async ({ params: { id }, body, actor }) => {
      await addEvents(db, id, body.eventIds, doing(actor));
      return theCase(id, actor);
    },
    'cases.merge': async ({ params: { id }, body, actor }) => {
      await mergeCases(db, id, body.caseId, doing(actor));
      return theCase(id, actor);
    },
    'cases.split': async ({ params: { id }, body, actor }) =>
      theCase(await splitCase(db, id, body, doing(actor)), actor),
  };
}

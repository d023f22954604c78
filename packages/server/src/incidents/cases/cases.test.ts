import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import type { Actor } from '../../platform/http/handler.ts';
import type { AuditRecord } from '../../ports.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, addUser, asCaller, caller, insert, SEEN } from '../../testing/rows.ts';
import { incidentHandlers } from '../handlers.ts';

afterAll(closeDatabases);

let now = Date.parse('2026-11-20T12:00:00Z');
const clock = {
  now: () => now,
  monotonic: () => 0,
  sleep: async () => undefined,
  every: () => () => undefined,
};

describe.each(databases())('cases on %s', (_name, open) => {
  let db: Database;
  let north: string;
  let south: string;
  let ada: Actor;
  let grace: string;
  let device: string;
  const audited: AuditRecord[] = [];
  const audit = async (_sql: unknown, record: AuditRecord) => void audited.push(record);
  const as = (actor: Actor = ada) => asCaller(incidentHandlers({ db, clock, audit }), actor);
  const list = async (query: Record<string, string | string[]>, actor?: Actor) => {
    const { data, totalCount } = await as(actor)('cases.list', { query });
    return [data.map(({ title }: { title: string }) => title).join(' '), totalCount] as const;
  };
  const create = async (body: Record<string, unknown>, actor?: Actor) => {
    now += 1000;
    return (await as(actor)('cases.create', { body: { siteId: north, ...body } })).data;
  };
  const patch = async (id: string, body: unknown, actor?: Actor) => {
    now += 1000;
    return (await as(actor)('cases.update', { params: { id }, body })).data;
  };
  const addEvents = async (messages: string[], more: Record<string, unknown> = {}) => {
    const ids = messages.map(() => uuidv7());
    await insert(
      db,
      'events',
      messages.map((message, i) => ({
        site_id: north,
        id: ids[i],
        device_id: device,
        kind: 'device.down',
        source: 'icmp',
        severity: 2 + (i % 3),
        message,
        dedup_key: uuidv7(),
        first_seen: SEEN,
        timestamp: SEEN,
        ...more,
      })),
    );
    return ids;
  };
  const kinds = (data: { activity: { kind: string }[] }) => data.activity.map((a) => a.kind).join(' ');

  beforeAll(async () => {
    db = await open();
    north = await addSite(db, 'north');
    south = await addSite(db, 'south');
    ada = caller('operator', 'all', 'ada', await addUser(db, 'ada'));
    grace = await addUser(db, 'grace');
    [device = ''] = await addDevices(db, [{ site_id: north, name: 'Kühlhaus-Switch' }]);
  });

  describe('filters', () => {
    beforeAll(async () => {
      const events = await addEvents(['fan failed']);
      await create({
        title: 'one',
        severity: 1,
        priority: 1,
        tags: ['Core', 'VIP'],
        assignee: 'me',
        eventIds: events,
        description: '100%_sure',
      });
      await create({ title: 'two', severity: 2, priority: 2, tags: ['core'], assignee: 'grace' });
      await create({ title: 'three', severity: 3, priority: 3, tags: [] });
      await create({ title: 'four', severity: 1, priority: 4, siteId: south });
      const three = (await as()('cases.list', { query: { q: 'three' } })).data[0];
      await as()('cases.comment', { params: { id: three.id }, body: { text: 'Provider says: fibre cut' } });
      await db.query(`UPDATE cases SET status = 1 WHERE title = 'two'`);
      await db.query(`UPDATE cases SET status = 3 WHERE title = 'four'`);
    });

    // What each filter keeps, and in which order, is the matter of lists.test.ts; here what its values may look like.
    it.each<[Record<string, string | string[]>, string]>([
      [{ assignee: 'Grace' }, 'two'],
      [{ tag: 'CORE' }, 'two one'],
      [{ tag: 'cor' }, ''],
      [{ q: 'ONE' }, 'one'],
      [{ q: '100%_' }, 'one'],
      [{ q: '%' }, 'one'],
      [{ q: '\\' }, ''],
      [{ q: 'fibre' }, 'three'],
      [{ q: 'cut three' }, 'three'],
      [{ q: 'cut two' }, ''],
      [{ q: 'vip' }, 'one'],
      [{ q: 'kühlhaus' }, 'one'],
      [{ q: 'KÜHLHAUS' }, 'one'],
      [{ q: '#999999999' }, ''],
      [{ q: '#99999999999' }, ''],
    ])('answers %j with "%s"', async (query, titles) => {
      expect((await list(query))[0]).toBe(titles);
    });

    it('finds a case by its number', async () => {
      const { data } = await as()('cases.list', { query: { q: 'three' } });
      expect(await list({ q: `#${data[0].number}` })).toEqual(['three', 1]);
      expect(await list({ q: `#${data[0].number} fibre` })).toEqual(['three', 1]);
      expect(await list({ q: `#${data[0].number} two` })).toEqual(['', 0]);
    });

    it('shows only cases of visible sites', async () => {
      const southern = caller('viewer', [south]);
      await expect(list({ site: north }, southern)).rejects.toMatchObject({ code: 'forbidden' });
      const { data } = await as()('cases.list', { query: { q: 'one' } });
      for (const id of [data[0].id, uuidv7()]) {
        const params = { id };
        const to = as(caller('operator', [south]));
        for (const [operation, request] of [
          ['cases.get', { params }],
          ['cases.update', { params, body: { status: 1 } }],
          ['cases.comment', { params, body: { text: 'x' } }],
          ['cases.addEvents', { params, body: { eventIds: [uuidv7()] } }],
          ['cases.merge', { params, body: { caseId: uuidv7() } }],
          ['cases.split', { params, body: { eventIds: [uuidv7()] } }],
        ] as const)
          await expect(to(operation, request)).rejects.toMatchObject({ code: 'not_found' });
      }
      await expect(create({ title: 'x' }, caller('operator', [south]))).rejects.toMatchObject({
        code: 'forbidden',
      });
    });
  });

  it('tells one case with its events and activity', async () => {
    const [first = '', second = ''] = await addEvents(['fan failed', 'fan hot']);
    const made = await create({
      title: 'fans',
      eventIds: [first, second],
      assignee: 'me',
      tags: ['a', 'A', 'b'],
    });
    expect(made).toMatchObject({
      siteId: north,
      title: 'fans',
      description: '',
      status: 0,
      severity: 2,
      priority: 3,
      assigneeId: ada.userId,
      assignee: 'ada',
      tags: ['A', 'b'],
      eventCount: 2,
      openEventCount: 2,
      rootDeviceId: null,
      resolvedAt: null,
      closedAt: null,
      createdAt: now / 1000,
    });
    expect(made.events.map((e: { id: string; caseId: string }) => [e.id, e.caseId])).toEqual(
      [first, second]
        .sort()
        .reverse()
        .map((id) => [id, made.id]),
    );
    expect(made.activity).toMatchObject([
      { kind: 'created', actor: 'ada', text: 'fans' },
      { kind: 'event_added', actor: 'ada', text: 'fan failed and 1 more' },
    ]);
  });

  it('moves forwards, says so, and is final when closed', async () => {
    const { id } = await create({ title: 'states' });
    expect(await patch(id, { status: 1 })).toMatchObject({ status: 1, resolvedAt: null });
    expect(await patch(id, { status: 1 })).toMatchObject({ status: 1 });
    await expect(patch(id, { status: 0 })).rejects.toMatchObject({
      code: 'conflict',
      message: 'the case is investigating: it cannot become open',
    });
    expect(await patch(id, { status: 2 })).toMatchObject({
      status: 2,
      resolvedAt: now / 1000,
      closedAt: null,
    });
    expect(await patch(id, { status: 1 })).toMatchObject({ status: 1, resolvedAt: null });
    const closed = await patch(id, { status: 3 });
    expect(closed).toMatchObject({ status: 3, closedAt: now / 1000 });
    expect(
      closed.activity
        .filter((a: { kind: string }) => a.kind === 'status')
        .map((a: { from: string; to: string }) => `${a.from}>${a.to}`),
    ).toEqual([
      'open>investigating',
      'investigating>resolved',
      'resolved>investigating',
      'investigating>closed',
    ]);
    for (const body of [{ status: 1 }, { title: 'x' }, { priority: 1 }])
      await expect(patch(id, body)).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      as()('cases.addEvents', { params: { id }, body: { eventIds: await addEvents(['late']) } }),
    ).rejects.toMatchObject({ code: 'conflict' });
    await as()('cases.comment', { params: { id }, body: { text: 'post mortem' } });
  });

  it('acknowledges its open events when somebody begins to work on it; what comes later is new', async () => {
    const [open = '', closed = '', late = ''] = await addEvents(['open', 'closed', 'late']);
    const { id } = await create({ title: 'whose', eventIds: [open, closed] });
    await as()('events.close', { params: { id: closed } });
    const states = async (one: { events: { id: string; status: number; acknowledgedBy: string | null }[] }) =>
      [open, closed, late].map((event) => {
        const found = one.events.find((each) => each.id === event);
        return found && `${found.status} ${found.acknowledgedBy}`;
      });
    const taken = await patch(id, { status: 1, assignee: 'me' });
    expect(await states(taken)).toEqual(['1 ada', '2 null', undefined]);
    expect(taken.events.find((event: { id: string }) => event.id === open)).toMatchObject({
      acknowledgedAt: now / 1000,
      acknowledgedUntil: 'clear',
    });
    expect(taken.activity.find((line: { kind: string }) => line.kind === 'status').text).toBe(
      '1 open event acknowledged',
    );
    await as()('cases.addEvents', { params: { id }, body: { eventIds: [late] } });
    const later = await patch(id, { priority: 1 });
    expect(await states(later)).toEqual(['1 ada', '2 null', '0 null']);
  });

  it('acknowledges what came since when somebody takes up again what is investigated', async () => {
    const [first = '', ...later] = await addEvents(['first', 'second', 'third']);
    const { id } = await create({ title: 'again', eventIds: [first] });
    await as()('events.close', { params: { id: first } });
    // It resolved itself, and is investigated again by itself.
    const opened = (await as()('cases.addEvents', { params: { id }, body: { eventIds: later } })).data;
    expect(opened).toMatchObject({ status: 1, openEventCount: 2 });
    audited.length = 0;
    const taken = await patch(id, { status: 1 });
    expect(taken.events.map((event: { status: number }) => event.status).sort()).toEqual([1, 1, 2]);
    const added = taken.activity.slice(opened.activity.length);
    expect(added).toMatchObject([{ actor: 'ada', kind: 'comment', text: '2 open events acknowledged' }]);
    expect(await patch(id, { status: 1 })).toMatchObject({ updatedAt: taken.updatedAt });
    expect(audited.map(({ action, detail }) => [action, detail])).toEqual([
      ['case.acknowledge', { id, before: {}, after: {}, acknowledged: 2 }],
    ]);
    // As of any case that somebody took in hand, its end is for people to tell.
    for (const event of later) await as()('events.close', { params: { id: event } });
    expect((await as()('cases.get', { params: { id } })).data.status).toBe(1);
  });

  it('leaves what people do in the audit log, each deed once', async () => {
    const [one = '', two = '', three = ''] = await addEvents(['one', 'two', 'three']);
    audited.length = 0;
    const { id, number } = await create({ title: 'audited', eventIds: [one, two] });
    await patch(id, { status: 1, assignee: 'me' });
    await patch(id, { status: 1 });
    await patch(id, { assignee: 'grace' });
    await patch(id, { description: 'long' });
    await as()('cases.comment', { params: { id }, body: { text: 'said' } });
    await as()('cases.addEvents', { params: { id }, body: { eventIds: [three] } });
    const made = (await as()('cases.split', { params: { id }, body: { eventIds: [three] } })).data;
    await as()('cases.merge', { params: { id }, body: { caseId: made.id } });
    await patch(id, { status: 2 });
    await patch(id, { status: 1 });
    await patch(id, { status: 3 });
    await expect(patch(id, { status: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect(audited.map(({ action }) => action.replace('case.', '')).join(' ')).toBe(
      'create acknowledge assign update comment add-events split merge resolve reopen close',
    );
    expect(new Set(audited.map(({ subject, siteId }) => `${subject} ${siteId}`))).toEqual(
      new Set([`case #${number} ${north}`]),
    );
    expect(audited[1]).toMatchObject({
      actor: { name: 'ada' },
      detail: {
        id,
        before: { status: 'open', assignee: null },
        after: { status: 'investigating', assignee: 'ada' },
      },
    });
    expect(audited[2]?.detail).toEqual({ id, before: { assignee: 'ada' }, after: { assignee: 'grace' } });
  });

  it('takes every change with a line each', async () => {
    const { id } = await create({ title: 'before', tags: ['x'] });
    const changed = await patch(id, {
      title: 'after',
      priority: 1,
      severity: 1,
      assignee: 'grace',
      tags: ['y'],
      description: 'words',
    });
    expect(changed).toMatchObject({
      title: 'after',
      priority: 1,
      severity: 1,
      assignee: 'grace',
      assigneeId: grace,
      tags: ['y'],
      description: 'words',
    });
    expect(kinds(changed)).toBe('created assigned priority tag comment comment comment');
    expect(changed.activity[1]).toMatchObject({ from: null, to: 'grace', actor: 'ada' });
    expect(changed.activity[3]).toMatchObject({ from: 'x', to: 'y' });
    expect((await patch(id, { assignee: null })).assigneeId).toBeNull();
    expect((await patch(id, { assignee: 'me' }, caller('operator', [north], 'grace', grace))).assignee).toBe(
      'grace',
    );
    const [words] = await list({ q: 'words after y' });
    expect(words).toBe('after');
    expect((await list({ q: 'before' }))[0]).toBe('');
  });

  it('is assigned only to people who may work it', async () => {
    const { id } = await create({ title: 'whose' });
    await addUser(db, 'linus', { all_sites: false });
    await addUser(db, 'gone', { disabled_at: SEEN });
    for (const assignee of ['linus', 'gone', 'stranger', uuidv7()])
      await expect(patch(id, { assignee })).rejects.toMatchObject({ code: 'invalid_request' });
    await db.query(
      `INSERT INTO user_sites (user_id, site_id) SELECT id, $1 FROM users WHERE name = 'linus'`,
      [north],
    );
    expect((await patch(id, { assignee: 'LINUS' })).assignee).toBe('linus');
  });

  it('resolves itself when its last event closes, unless somebody set its status', async () => {
    const [one = '', two = ''] = await addEvents(['one', 'two']);
    const self = await create({ title: 'self', eventIds: [one, two] });
    now += 1000;
    await as()('events.close', { params: { id: one } });
    expect(await as()('cases.get', { params: { id: self.id } })).toMatchObject({
      data: { status: 0, openEventCount: 1, severity: 3 },
    });
    await as()('events.close', { params: { id: two } });
    const { data } = await as()('cases.get', { params: { id: self.id } });
    expect(data).toMatchObject({ status: 2, resolvedAt: now / 1000, openEventCount: 0, eventCount: 2 });
    expect(kinds(data)).toBe('created event_added event_closed event_closed status');
    expect(data.activity.at(-1)).toMatchObject({ actor: 'system', from: 'open', to: 'resolved' });

    const [three = ''] = await addEvents(['three']);
    const again = (await as()('cases.addEvents', { params: { id: self.id }, body: { eventIds: [three] } }))
      .data;
    expect(again).toMatchObject({ status: 1, resolvedAt: null });

    const [four = ''] = await addEvents(['four']);
    const manual = await create({ title: 'manual', eventIds: [four] });
    await patch(manual.id, { status: 1 });
    await as()('events.close', { params: { id: four } });
    expect((await as()('cases.get', { params: { id: manual.id } })).data.status).toBe(1);
  });

  it('takes events of its site, all or none, and settles the case they leave', async () => {
    const [one = '', two = ''] = await addEvents(['one', 'two']);
    const from = await create({ title: 'from', eventIds: [one] });
    const to = await create({ title: 'to' });
    const add = (eventIds: string[]) =>
      as()('cases.addEvents', { params: { id: to.id }, body: { eventIds } });
    const [foreign = ''] = await addEvents(['foreign'], { site_id: south, device_id: null });
    await expect(add([two, foreign])).rejects.toMatchObject({ code: 'not_found', message: 'no such event' });
    await expect(add([two, uuidv7()])).rejects.toMatchObject({ code: 'not_found' });
    expect((await as()('cases.get', { params: { id: to.id } })).data.eventCount).toBe(0);
    expect((await add([one, two])).data).toMatchObject({ eventCount: 2, severity: 2 });
    expect((await as()('cases.get', { params: { id: from.id } })).data).toMatchObject({
      eventCount: 0,
      status: 0,
    });
    expect((await list({ q: 'to kühlhaus' }))[0]).toContain('to');
  });

  it('merges: events, comments and tags come over, the other is closed', async () => {
    const [one = '', two = ''] = await addEvents(['one', 'two']);
    const into = await create({ title: 'into', tags: ['x'], eventIds: [one] });
    const other = await create({ title: 'other', tags: ['X', 'y'], eventIds: [two] });
    await as()('cases.comment', { params: { id: other.id }, body: { text: 'seen this before' } });
    const merge = (id: string, caseId: string) => as()('cases.merge', { params: { id }, body: { caseId } });
    await expect(merge(into.id, into.id)).rejects.toMatchObject({ code: 'invalid_request' });
    const foreign = await create({ title: 'foreign', siteId: south });
    await expect(merge(into.id, foreign.id)).rejects.toMatchObject({ code: 'conflict' });
    const { data } = await merge(into.id, other.id);
    expect(data).toMatchObject({ eventCount: 2, tags: ['x', 'y'] });
    expect(data.activity.map((a: { text: string }) => a.text)).toContain('seen this before');
    const after = (await as()('cases.get', { params: { id: other.id } })).data;
    expect(after).toMatchObject({ status: 3, eventCount: 0 });
    expect(after.activity.at(-1).text).toBe(`merged into case #${into.number}`);
    await expect(merge(into.id, other.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('splits: some events make a new case', async () => {
    const [one = '', two = ''] = await addEvents(['one', 'two']);
    const whole = await create({ title: 'whole', priority: 1, tags: ['x'], eventIds: [one, two] });
    const split = (eventIds: string[]) =>
      as()('cases.split', { params: { id: whole.id }, body: { eventIds } });
    await expect(split([one, uuidv7()])).rejects.toMatchObject({ code: 'conflict' });
    await expect(split([one, two])).rejects.toMatchObject({
      code: 'conflict',
      message: `these are all events of case #${whole.number}: nothing would be left in it`,
    });
    const { data } = await split([two]);
    expect(data).toMatchObject({ title: 'two', priority: 1, tags: ['x'], eventCount: 1, status: 0 });
    expect(data.id).not.toBe(whole.id);
    expect((await as()('cases.get', { params: { id: whole.id } })).data).toMatchObject({ eventCount: 1 });
  });

  it('knows of each title whether a person wrote it', async () => {
    const byHand = async (id: string) =>
      (await db.query<{ is: boolean }>('SELECT title_by_hand AS is FROM cases WHERE id = $1', [id]))[0]?.is;
    const [one = '', two = '', three = ''] = await addEvents(['one', 'two', 'three']);
    const whole = await create({ title: 'whole', eventIds: [one, two, three] });
    const split = async (body: object) =>
      (await as()('cases.split', { params: { id: whole.id }, body })).data;
    const named = await split({ eventIds: [one], title: 'one apart' });
    const { id } = await split({ eventIds: [two] });
    expect([await byHand(whole.id), await byHand(named.id), await byHand(id)]).toEqual([true, true, false]);
    await patch(id, { title: 'two', priority: 1 });
    expect(await byHand(id)).toBe(false);
    await patch(id, { title: 'two apart' });
    await patch(id, { priority: 2 });
    expect(await byHand(id)).toBe(true);
  });
});

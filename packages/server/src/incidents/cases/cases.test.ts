import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import type { Actor } from '../../platform/http/handler.ts';
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
  const as = (actor: Actor = ada) => asCaller(incidentHandlers({ db, clock }), actor);
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

    // `three` was commented on before `four` was made, but in the same second; order is by last change.
    it.each<[Record<string, string | string[]>, string]>([
      [{}, 'four three two one'],
      [{ status: '0' }, 'three one'],
      [{ status: '0,1' }, 'three two one'],
      [{ status: '3' }, 'four'],
      [{ severity: '1' }, 'four one'],
      [{ severity: '2,3' }, 'three two'],
      [{ priority: '1,4' }, 'four one'],
      [{ assignee: 'me' }, 'one'],
      [{ assignee: 'none' }, 'four three'],
      [{ assignee: 'grace' }, 'two'],
      [{ assignee: 'Grace' }, 'two'],
      [{ assignee: 'nobody' }, ''],
      [{ tag: 'core' }, 'two one'],
      [{ tag: 'CORE' }, 'two one'],
      [{ tag: 'cor' }, ''],
      [{ tag: ['core', 'vip'] }, 'one'],
      [{ tag: ['core', 'nope'] }, ''],
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
      [{ q: '' }, 'four three two one'],
      [{ q: '#999999999' }, ''],
      [{ q: '#99999999999' }, ''],
      [{ status: '0', tag: 'core', assignee: 'me', q: 'one' }, 'one'],
      [{ sort: 'severity', status: '0,1' }, 'one two three'],
      [{ sort: 'priority' }, 'one two three four'],
      [{ sort: 'createdAt' }, 'one two three four'],
      [{ sort: '-number', pageSize: '2' }, 'four three'],
      [{ sort: 'number', tag: 'core' }, 'one two'],
      [{ pageSize: '3', page: '2' }, 'one'],
      [{ pageSize: '3', page: '7' }, ''],
    ])('answers %j with "%s"', async (query, titles) => {
      expect((await list(query))[0]).toBe(titles);
    });

    it('finds a case by its number', async () => {
      const { data } = await as()('cases.list', { query: { q: 'three' } });
      expect(await list({ q: `#${data[0].number}` })).toEqual(['three', 1]);
      expect(await list({ q: `#${data[0].number} fibre` })).toEqual(['three', 1]);
      expect(await list({ q: `#${data[0].number} two` })).toEqual(['', 0]);
    });

    it('finds a case by its assignee’s id', async () => {
      expect(await list({ assignee: grace })).toEqual(['two', 1]);
    });

    it('counts all pages, past the end too', async () => {
      expect(await list({ pageSize: '1', page: '9' })).toEqual(['', 4]);
      expect(await list({ tag: 'core', pageSize: '1' })).toEqual(['two', 2]);
    });

    it('shows only cases of visible sites', async () => {
      const southern = caller('viewer', [south]);
      expect(await list({}, southern)).toEqual(['four', 1]);
      expect(await list({}, caller('viewer', []))).toEqual(['', 0]);
      expect(await list({ site: south })).toEqual(['four', 1]);
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

  it('5,000 cases that a search finds, or two more, are counted and paged exactly', async () => {
    const flood = (from: number, to: number) =>
      db.query(
        `INSERT INTO cases (site_id, id, title, severity, tags, begun_at, created_at, updated_at, search_text)
         SELECT $1, gen_random_uuid(), 'flood-' || n, 5, '{flood}', t, t, t, 'flood-' || n
         FROM generate_series($2::int, $3::int) n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '1 s' AS t) at`,
        [north, from, to],
      );
    const titles = (from: number, to: number) =>
      Array.from({ length: from - to + 1 }, (_, i) => `flood-${from - i}`).join(' ');
    await flood(1, 5_000);
    for (const total of [5_000, 5_002])
      for (const by of [{ q: 'FLOOD' }, { tag: 'flood' }]) {
        if (total === 5_002 && 'q' in by) await flood(5_001, total);
        const page = (n: number) => list({ ...by, page: String(n) });
        expect(await page(1)).toEqual([titles(total, total - 24), total]);
        expect(await page(100)).toEqual([titles(total - 2_475, total - 2_499), total]);
        expect(await page(200)).toEqual([titles(total - 4_975, total - 4_999), total]);
        expect(await page(201)).toEqual([total > 5_000 ? titles(2, 1) : '', total]);
      }
    await db.query(`DELETE FROM cases WHERE title LIKE 'flood-%'`);
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

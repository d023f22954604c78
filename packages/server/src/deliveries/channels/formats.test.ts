import { WEBHOOK_FORMATS } from '@rollcall/shared/api/subscriptions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestOf } from './formats.ts';
import type { Payload } from './message.ts';

const TARGET = {
  url: 'https://hooks.example.net/x',
  key: 'k-1',
  template: '{{ summary | json }}',
  channel: 'C1',
  headers: {},
};
const CASE = '019aa3c4-5b00-7000-8000-000000000009';
const payload = (
  more: Partial<Payload['data']['case']> = {},
  type: Payload['type'] = 'case.opened',
): Payload => ({
  type,
  timestamp: 1_763_700_060,
  data: {
    case: {
      id: CASE,
      number: 12,
      siteId: CASE,
      title: 'core-1 <b> & *co* @channel',
      status: 0,
      severity: 2,
      priority: 2,
      assignee: null,
      tags: ['core'],
      eventCount: 1,
      openEventCount: 1,
      rootDeviceId: null,
      createdAt: 1_763_700_000,
      resolvedAt: null,
      ...more,
    },
    site: { id: CASE, name: 'Head office' },
    events: [
      { id: CASE, kind: 'device.down', severity: 2, message: 'core-1 is down', firstSeen: 1_763_700_000 },
    ],
    url: 'https://rollcall.example.net/cases/12',
  },
});
const RESOLVED = payload({ status: 2, resolvedAt: 1_763_700_600 }, 'case.resolved');
/** As it arrives. */
const body = (...of: Parameters<typeof requestOf>) => JSON.parse(JSON.stringify(requestOf(...of).body));

describe('what a webhook is sent', () => {
  it('Rollcall’s own JSON as it is', () => {
    expect(requestOf('rollcall', payload(), TARGET)).toEqual({
      url: TARGET.url,
      headers: {},
      body: payload(),
    });
  });

  it('Slack: text, in which nothing of a device is markup', () => {
    expect(body('slack', payload(), TARGET).text.split('\n')).toEqual([
      '*[Head office] #12 opened: core-1 &lt;b&gt; &amp; *co* @channel (major)*',
      '• core-1 is down',
      '<https://rollcall.example.net/cases/12|Open the case>',
    ]);
  });

  it('Mattermost: text that calls nobody', () => {
    const { text } = body('mattermost', payload(), TARGET);
    expect(text).toContain('\\*co\\*');
    expect(text).toContain('@\u200Bchannel');
    expect(text).not.toContain('@channel');
    expect(text).toContain('[Open the case](https://rollcall.example.net/cases/12)');
  });

  it.each(['slack', 'mattermost'] as const)(
    '%s: no longer than a chat takes, and says what it left out',
    (format) => {
      const given = payload({ title: '&'.repeat(400), openEventCount: 30 });
      const [event = expect.fail()] = given.data.events;
      for (const message of ['<', '&_', '漢字', '\u{1F6A8}', 'a'].map((one) => one.repeat(500))) {
        given.data.events = Array.from({ length: 10 }, () => ({ ...event, message }));
        const { text } = body(format, given, TARGET);
        expect(text.length).toBeLessThanOrEqual(3_500);
        const lines: string[] = text.split('\n');
        const shown = lines.filter((line) => /^[•-] (?!and )/.test(line));
        expect(shown.length).toBeGreaterThan(0);
        expect(text).toContain(`and ${30 - shown.length} more\n`);
        expect(shown.at(-1)).toMatch(/…$/);
        expect(lines.at(-1)).toContain('https://rollcall.example.net/cases/12');
        // Nothing was cut within a character, or within what stands for one.
        expect(text.isWellFormed()).toBe(true);
        if (format === 'slack') expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
        else expect(text).not.toMatch(/(?<!\\)(\\\\)*\\…/);
      }
    },
  );

  it('Teams: a card with its colour and a button', () => {
    const [{ content }] = body('teams', payload(), TARGET).attachments;
    expect(content).toMatchObject({ type: 'AdaptiveCard', actions: [{ type: 'Action.OpenUrl' }] });
    expect(content.body[0]).toMatchObject({ color: 'attention', weight: 'bolder' });
    expect(body('teams', RESOLVED, TARGET).attachments[0].content.body[0].color).toBe('good');
  });

  it.each([
    ['trigger', payload()],
    ['acknowledge', payload({ status: 1 }, 'case.changed')],
    ['resolve', RESOLVED],
    ['trigger', payload({ status: 1 }, 'case.reopened')],
  ])('PagerDuty: %s, always the same alert', (action, given) => {
    expect(body('pagerduty', given, TARGET)).toMatchObject({
      routing_key: 'k-1',
      event_action: action,
      dedup_key: `rollcall-case-${CASE}`,
      payload: { severity: 'error', source: 'Head office', timestamp: '2025-11-21T04:41:00.000Z' },
    });
  });

  it('Opsgenie: an alert by its alias, closed where that is done', () => {
    expect(requestOf('opsgenie', payload(), TARGET)).toMatchObject({
      headers: { authorization: 'GenieKey k-1' },
      body: { alias: `rollcall-case-${CASE}`, priority: 'P2', entity: 'Head office', tags: ['core'] },
    });
    expect(
      requestOf('opsgenie', RESOLVED, { ...TARGET, url: 'https://api.example.net/v2/alerts/' }),
    ).toMatchObject({
      url: `https://api.example.net/v2/alerts/rollcall-case-${CASE}/close?identifierType=alias`,
      headers: { authorization: 'GenieKey k-1' },
    });
  });

  it('Alertmanager: labels that stay the same, and an end', () => {
    const [open] = body('alertmanager', payload(), TARGET);
    const [over] = body('alertmanager', RESOLVED, TARGET);
    expect(over.labels).toEqual(open.labels);
    expect(over.endsAt).toBe('2025-11-21T04:50:00.000Z');
    expect(Date.parse(open.endsAt)).toBeGreaterThan(Date.parse('2025-12-01'));
  });

  it('within what each takes, whatever a device is called', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.constantFrom(...WEBHOOK_FORMATS), (title, format) => {
        const { body: sent } = requestOf(format, payload({ title }), TARGET);
        expect(JSON.stringify(sent).length).toBeLessThan(25_000);
        const { message = '', payload: alert } = sent as { message?: string; payload?: { summary: string } };
        if (format === 'opsgenie') expect(message.length).toBeLessThanOrEqual(130);
        expect((alert?.summary ?? '').length).toBeLessThanOrEqual(1024);
      }),
    );
  });
});

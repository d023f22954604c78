/** The examples of docs/notifications.md: each is accepted, and shows what would be sent. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Preview, subscriptionRequest, WEBHOOK_FORMATS } from '@rollcall/shared/api/subscriptions';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { expect, it } from 'vitest';
import { previewHandlers } from './preview.ts';

const page = readFileSync(new URL('../../../../../docs/notifications.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)].map(
  ([, request = '', sent]) => [subscriptionRequest.parse(JSON.parse(request)), sent] as const,
);

it.each(examples.map(([body, sent]) => [body.name, body, sent] as const))('%s', async (_name, body, sent) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  const preview = previewHandlers({ clock, publicUrl: 'https://rollcall.example.net' })[
    'subscriptions.preview'
  ];
  const { data } = (await preview({ body } as never)) as { data: Preview };
  const shown = data.body
    .replaceAll('\r\n', '\n')
    .replace('\ufeff', '')
    .replace(` ${hostname()} rollcall `, ' noc rollcall ');
  expect(`${data.to}\n\n${shown.trimEnd()}\n`).toBe(sent);
});

it('there is one of every kind and format', () => {
  const kinds = examples.map(([body]) => (body.kind === 'webhook' ? body.format : body.kind));
  expect(kinds.sort()).toEqual([...WEBHOOK_FORMATS, 'email', 'syslog'].sort());
});

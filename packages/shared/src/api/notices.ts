/** What subscribers are told of cases: the payload, also as `webhooks` of the OpenAPI document. */
import { z } from 'zod';
import { incidentCase } from './incidents.ts';
import { id, unixSeconds } from './operation.ts';

/** What subscribers are notified of. `case.reopened`: the trouble of a resolved case came back. */
export const NOTICE_TYPES = ['case.opened', 'case.changed', 'case.reopened', 'case.resolved'] as const;
export const noticeType = z.enum(NOTICE_TYPES).meta({ id: 'NoticeType' });
/** Of the test as well, which is about no case. */
export const noticeOrTest = z.enum([...NOTICE_TYPES, 'test']).meta({ id: 'NoticeOrTest' });
export type NoticeType = z.infer<typeof noticeType>;

/** What is told, and what each is about. */
const TOLD = {
  'case.opened': 'A case was opened.',
  'case.changed': 'A case changed: severity, status, assignee, priority, tags, text or a comment.',
  'case.reopened': 'The trouble of a resolved case came back.',
  'case.resolved': 'A case was resolved.',
  test: 'Somebody tries the subscription; it is about no case.',
} as const satisfies Record<NoticeType | 'test', string>;

/** The worst live events that a notice lists. */
export const NOTICE_EVENTS_MOST = 10;

/** The body of a webhook of the format `rollcall`; everything else that is sent is written from it. */
export const notice = z
  .strictObject({
    type: noticeOrTest,
    timestamp: unixSeconds.meta({ description: 'When it came about, Unix seconds.', example: 1_763_700_060 }),
    data: z.strictObject({
      case: incidentCase
        .omit({ description: true, assigneeId: true, updatedAt: true, closedAt: true })
        .extend({
          number: z.int().min(0).meta({ description: '0 in a test.', example: 1042 }),
        }),
      site: z.strictObject({ id, name: z.string().meta({ example: 'Berlin' }) }),
      events: z
        .array(
          z.strictObject({
            id,
            kind: z.string().meta({ example: 'device.down' }),
            severity: z.int().min(1).max(5),
            message: z.string().meta({ example: 'core-1 is down' }),
            firstSeen: unixSeconds,
          }),
        )
        .max(NOTICE_EVENTS_MOST)
        .meta({ description: 'The worst of its events that are not closed.' }),
      url: z.string().optional().meta({
        description: 'Where people read it; absent where the server does not know its address.',
        example: 'https://rollcall.example.net/cases/019aa3c4-5b00-7000-8000-000000000001',
      }),
      acknowledgeUrl: z.string().optional().meta({
        description:
          'A link that acknowledges the case for anyone who has it, without signing in; only while the case or one of its events is open, and where the subscription says so.',
        example: 'https://rollcall.example.net/acknowledge#AZqjxFsAcACA',
      }),
    }),
  })
  .meta({ id: 'Notice' });
export type Notice = z.infer<typeof notice>;

/** A request that the server makes. */
export interface Webhook {
  summary: string;
  description: string;
  body: z.ZodType;
}

export const webhooks: Readonly<Record<string, Webhook>> = Object.fromEntries(
  Object.entries(TOLD).map(([type, summary]) => [
    type,
    {
      summary,
      description:
        'To webhook subscriptions of the format `rollcall`. Signed by Standard Webhooks. Any 2xx is success, 410 ends the subscription; everything else is tried again for a day. The same `webhook-id` may come twice.',
      body: notice,
    },
  ]),
);

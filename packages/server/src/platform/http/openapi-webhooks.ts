/** Pure: what the server itself sends, as a path item of `webhooks` in the OpenAPI document. */
import type { Webhook } from '@rollcall/shared/api/notices';
import { exampleOf, type Json, type Schemas } from './openapi-schema.ts';

const SIGNED = {
  'webhook-id': [
    'The same at every attempt: do nothing the second time.',
    '019aa3c4-5b00-7000-8000-00000000000e',
  ],
  'webhook-timestamp': ['Of the attempt, Unix seconds.', '1763700061'],
  'webhook-signature': [
    '`v1,` and HMAC-SHA-256 over id, timestamp and body; two by a space for a day after a new secret.',
    'v1,MB5f7ZQHAWJ4LIGzP0D7cE9TVSlfnQyEA1FhKpTYKLQ=',
  ],
} as const;

export function webhookObject(type: string, { summary, description, body }: Webhook, schemas: Schemas): Json {
  const schema = schemas.output(body);
  const example = exampleOf(schema, schemas) as Record<string, Json>;
  return {
    post: {
      operationId: `webhooks.${type}`,
      tags: ['Notifications'],
      summary,
      description,
      security: [],
      parameters: Object.entries(SIGNED).map(([name, [about, shown]]) => ({
        name,
        in: 'header',
        required: true,
        description: about,
        schema: { type: 'string' },
        example: shown,
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: { ...example, type } } },
      },
      responses: {
        '2XX': { description: 'It has arrived; the body is not read.' },
        '3XX': { description: 'Not followed: it is tried again at the address of the subscription.' },
        410: { description: 'Nothing more is wanted: the subscription is disabled.' },
        '4XX': { description: 'It is tried again.' },
        '5XX': { description: 'It is tried again; `Retry-After` is heeded.' },
      },
    },
  };
}

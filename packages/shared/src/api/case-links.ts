/** What whoever has the link of a notice may do, without signing in. */
import { z } from 'zod';
import { CaseStatus } from '../model.ts';
import type { Operation } from './operation.ts';

const link = z.strictObject({
  link: z
    .string()
    .regex(/^[\w-]{80,120}$/, 'must be what comes after # in the link')
    .meta({
      description: 'What comes after `#` in the link of a notice.',
      example: 'AZqjxFsAcACAAAAAAAAAAQGao8RbAHAAgAAAAAAAAAJpHkZAwYx3Zl0TqJpM0w9mQm8cVb2k7Yt5nH1rD3sE4fGa',
    }),
});

const caseLink = z
  .strictObject({
    number: z.int().min(1).meta({ example: 1042 }),
    title: z.string().meta({ example: 'core-1 does not answer' }),
    site: z.string().meta({ example: 'Berlin' }),
    status: z.enum(CaseStatus).meta({ id: 'CaseStatus', description: '0 is open.', example: 0 }),
    severity: z.int().min(1).max(5),
    acknowledgeable: z.boolean().meta({
      description:
        'Whether there is something to acknowledge: the case is open, or one of its events while it is investigated.',
    }),
    subscription: z.string().meta({ description: 'Whose notice it was in.', example: 'On call' }),
  })
  .meta({ id: 'CaseLink' });
export type CaseLink = z.infer<typeof caseLink>;

export const caseLinkOperations = {
  'caseLinks.read': {
    method: 'POST',
    path: '/api/case-links',
    tag: 'Notifications',
    summary: 'Which case does a link acknowledge?',
    description: 'Changes nothing. A link that has ended, was revoked or is not of this server is a 404.',
    access: 'public',
    body: link,
    data: caseLink,
    envelope: 'item',
    errors: ['not_found'],
  },
  'caseLinks.acknowledge': {
    method: 'POST',
    path: '/api/case-links/acknowledge',
    tag: 'Notifications',
    summary: 'Acknowledge the case of a link',
    description:
      'An open case is investigated from now on, and the open events of a case that is not over are acknowledged; nothing else changes.',
    access: 'public',
    body: link,
    data: caseLink,
    envelope: 'item',
    errors: ['not_found'],
  },
} as const satisfies Record<string, Operation>;

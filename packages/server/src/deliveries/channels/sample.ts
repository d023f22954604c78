/** Made-up notices: of a test, and of a case to try templates on. */
import type { Payload } from './message.ts';

const NOBODY = '00000000-0000-7000-8000-000000000000';

/** About no case. @param now Unix milliseconds */
export const testPayload = (now: number): Payload => ({
  type: 'test',
  timestamp: Math.floor(now / 1000),
  data: {
    case: {
      id: NOBODY,
      number: 0,
      siteId: NOBODY,
      title: 'This is a test',
      status: 0,
      severity: 5,
      priority: 4,
      assignee: null,
      tags: [],
      eventCount: 0,
      openEventCount: 0,
      rootDeviceId: null,
      createdAt: Math.floor(now / 1000),
      resolvedAt: null,
    },
    site: { id: NOBODY, name: 'Test' },
    events: [],
  },
});

const SITE = '019aa3c4-5b00-7000-8000-000000000001';
const CASE = '019aa3c4-5b00-7000-8000-000000000002';
/** A case that opens, with words that a careless template trips over: quotes, a line break, markup. */
export const sampleCase = (now: number, publicUrl?: string): Payload => {
  const at = Math.floor(now / 1000);
  return {
    type: 'case.opened',
    timestamp: at,
    data: {
      case: {
        id: CASE,
        number: 1042,
        siteId: SITE,
        title: 'core-1 "Hall <2>" does not answer',
        status: 0,
        severity: 2,
        priority: 2,
        assignee: 'ada',
        tags: ['core', 'hall 2'],
        eventCount: 2,
        openEventCount: 2,
        rootDeviceId: CASE,
        createdAt: at - 30,
        resolvedAt: null,
      },
      site: { id: SITE, name: 'Berlin' },
      events: [
        {
          id: CASE,
          kind: 'device.down',
          severity: 2,
          message: 'core-1 "Hall <2>" does not answer',
          firstSeen: at - 30,
        },
        {
          id: SITE,
          kind: 'interface.down',
          severity: 3,
          message: 'Gi1/0/1 of edge-7 is down:\nno carrier',
          firstSeen: at - 20,
        },
      ],
      ...(publicUrl !== undefined && {
        url: `${publicUrl}/cases/${CASE}`,
        acknowledgeUrl: `${publicUrl}/acknowledge#…`,
      }),
    },
  };
};

/** Events, cases and maintenance, put together: what the rest of the server calls, and what people do with them. */
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { AcknowledgeCase, Audit } from '../ports.ts';
import { availabilityHandlers } from './availability/handlers.ts';
import { acknowledgeCase } from './cases/change.ts';
import { changeHandlers } from './changes/handlers.ts';
import { onDevicesDeleted, onMonitoringStopped } from './device-events.ts';
import { incidentHandlers } from './handlers.ts';
import { KINDS } from './kinds/kinds.ts';
import { maintenanceHandlers } from './maintenance/handlers.ts';
import { createRecorder } from './record.ts';
import { createRetention } from './retention.ts';

export const createIncidentFeature = (deps: { db: Database; clock: Clock; log: Logger; audit: Audit }) => ({
  ...createRecorder(deps),
  deleteOld: createRetention(deps),
  /** For the features that change devices, inside their transaction. */
  events: { onMonitoringStopped, onDevicesDeleted },
  eventKinds: Object.keys(KINDS),
  acknowledgeCase: ((id, { name, siteId, address, detail }) => {
    const actor = { name, userId: null, sites: [siteId] };
    const doing = { actor, address, at: deps.clock.now(), audit: deps.audit };
    return acknowledgeCase(deps.db, id, doing, detail);
  }) satisfies AcknowledgeCase,
  handlers: {
    ...incidentHandlers(deps),
    ...changeHandlers(deps),
    ...maintenanceHandlers(deps),
    ...availabilityHandlers(deps),
  },
});

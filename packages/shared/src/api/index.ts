/** The one table of all REST operations, by operation id. */
import { accountOperations } from './accounts.ts';
import { collectorOperations } from './collectors.ts';
import { incidentOperations } from './incidents.ts';
import { inventoryOperations } from './inventory.ts';
import { scanOperations } from './scans.ts';
import { serviceOperations } from './service.ts';
import { siteOperations } from './sites.ts';

export const operations = {
  ...accountOperations,
  ...siteOperations,
  ...collectorOperations,
  ...scanOperations,
  ...inventoryOperations,
  ...incidentOperations,
  ...serviceOperations,
};
export type Operations = typeof operations;
export type OperationId = keyof Operations;

/** The one table of all REST operations, by operation id. */
import { accountOperations } from './accounts.ts';
import { addDeviceOperations } from './add-devices.ts';
import { annotationOperations } from './annotations.ts';
import { availabilityOperations } from './availability.ts';
import { caseLinkOperations } from './case-links.ts';
import { changeOperations } from './changes.ts';
import { collectorOperations } from './collectors.ts';
import { credentialOperations } from './credentials.ts';
import { deliveryOperations } from './deliveries.ts';
import { endpointOperations } from './endpoints.ts';
import { eventChartOperations } from './event-charts.ts';
import { exportOperations } from './exports.ts';
import { freePortOperations } from './free-ports.ts';
import { incidentOperations } from './incidents.ts';
import { interfaceOperations } from './interfaces.ts';
import { inventoryOperations } from './inventory.ts';
import { labOperations } from './lab.ts';
import { maintenanceOperations } from './maintenance.ts';
import { measurementOperations } from './measurements.ts';
import { profileOperations } from './profiles.ts';
import { scanOperations } from './scans.ts';
import { searchOperations } from './search.ts';
import { secondFactorOperations } from './second-factor.ts';
import { sensorOperations } from './sensors.ts';
import { serviceOperations } from './service.ts';
import { siteOperations } from './sites.ts';
import { tableOperations } from './tables.ts';
import { thresholdOperations } from './thresholds.ts';
import { tokenOperations } from './tokens.ts';

export const operations = {
  ...accountOperations,
  ...secondFactorOperations,
  ...tokenOperations,
  ...siteOperations,
  ...collectorOperations,
  ...credentialOperations,
  ...scanOperations,
  ...profileOperations,
  ...inventoryOperations,
  ...interfaceOperations,
  ...freePortOperations,
  ...addDeviceOperations,
  ...annotationOperations,
  ...tableOperations,
  ...endpointOperations,
  ...searchOperations,
  ...exportOperations,
  ...measurementOperations,
  ...sensorOperations,
  ...thresholdOperations,
  ...availabilityOperations,
  ...incidentOperations,
  ...eventChartOperations,
  ...changeOperations,
  ...maintenanceOperations,
  ...deliveryOperations,
  ...caseLinkOperations,
  ...serviceOperations,
  ...labOperations,
};
export type Operations = typeof operations;
export type OperationId = keyof Operations;

import type { Operation } from './operation.ts';

export const incidentOperations = {} as const satisfies Record<string, Operation>;

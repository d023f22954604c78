import type { Operation } from './operation.ts';

export const collectorOperations = {} as const satisfies Record<string, Operation>;

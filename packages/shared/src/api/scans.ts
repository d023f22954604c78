import type { Operation } from './operation.ts';

export const scanOperations = {} as const satisfies Record<string, Operation>;

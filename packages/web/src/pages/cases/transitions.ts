import { CaseStatus } from '@rollcall/shared/model';

const FORWARD: Readonly<Record<number, readonly number[]>> = {
  [CaseStatus.open]: [CaseStatus.investigating, CaseStatus.resolved, CaseStatus.closed],
  [CaseStatus.investigating]: [CaseStatus.resolved, CaseStatus.closed],
  [CaseStatus.resolved]: [CaseStatus.investigating, CaseStatus.closed],
};

/** Statuses that a person may give to a case of this one; closed is final. The server decides. */
export const reachable = (status: number): readonly number[] => FORWARD[status] ?? [];

import type { Collector } from '@rollcall/shared/api/collectors';
import { CaseStatus as Case } from '@rollcall/shared/model';
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleDotted,
  IconCircleX,
  IconCircleXFilled,
  IconClockPause,
  IconEye,
  IconLoader2,
  IconLockExclamation,
  IconPlugConnectedX,
  IconProgress,
} from '@tabler/icons-react';
import { type Icon, StatusLabel, type Tone } from './labels.tsx';

type Look = readonly [tone: Tone, icon: Icon, word?: string];

const DEVICE: Record<string, Look> = {
  up: ['ok', IconCircleCheckFilled],
  down: ['bad', IconCircleXFilled],
  unknown: ['idle', IconCircleDashed],
};
const SCAN: Record<string, Look> = {
  queued: ['idle', IconClockPause],
  running: ['busy', IconLoader2],
  completed: ['ok', IconCircleCheckFilled],
  partial: ['warn', IconAlertTriangle],
  failed: ['bad', IconCircleXFilled],
  cancelled: ['idle', IconBan],
};
const JOB: Record<string, Look> = {
  queued: ['idle', IconClockPause],
  leased: ['busy', IconLoader2, 'sweeping'],
  done: ['ok', IconCircleCheckFilled],
  deferred: ['warn', IconClockPause],
  failed: ['bad', IconCircleXFilled],
  cancelled: ['idle', IconBan],
};
const DELIVERY: Record<string, Look> = {
  queued: ['busy', IconClockPause, 'waiting'],
  delivered: ['ok', IconCircleCheckFilled],
  partial: ['warn', IconAlertTriangle],
  failed: ['bad', IconCircleXFilled],
};
/** A port that is down is how most ports are: what is wrong with one is said by an event. */
const LINK: Record<string, Look> = {
  up: ['ok', IconCircleCheckFilled],
  down: ['idle', IconCircleX],
  testing: ['warn', IconProgress],
  dormant: ['idle', IconClockPause],
  notPresent: ['idle', IconCircleDotted, 'not present'],
  lowerLayerDown: ['warn', IconCircleX, 'lower layer down'],
};
const EVENT: readonly Look[] = [
  ['sev2', IconCircleDotted, 'open'],
  ['busy', IconEye, 'acknowledged'],
  ['idle', IconCircleCheck, 'closed'],
];
const CASE: readonly Look[] = [
  ['sev2', IconCircleDotted, 'open'],
  ['busy', IconProgress, 'investigating'],
  ['ok', IconCircleCheckFilled, 'resolved'],
  ['idle', IconCircleCheck, 'closed'],
];
const UNKNOWN: Look = ['idle', IconCircleDashed];

function Look({ look: [tone, icon, word], name, short }: { look: Look; name: string; short?: boolean }) {
  return (
    <StatusLabel tone={tone} icon={icon} spin={icon === IconLoader2} word={!short}>
      {word ?? name}
    </StatusLabel>
  );
}

export const DeviceStatus = ({ status, short = false }: { status: string; short?: boolean }) => (
  <Look look={DEVICE[status] ?? UNKNOWN} name={status} short={short} />
);
export const ScanStatus = ({ status }: { status: string }) => (
  <Look look={SCAN[status] ?? UNKNOWN} name={status} />
);
export const JobStatus = ({ status }: { status: string }) => (
  <Look look={JOB[status] ?? UNKNOWN} name={status} />
);
export const DeliveryStatus = ({ status }: { status: string }) => (
  <Look look={DELIVERY[status] ?? UNKNOWN} name={status} />
);
export const EventStatus = ({ status }: { status: number }) => (
  <Look look={EVENT[status] ?? UNKNOWN} name={`status ${status}`} />
);

export const CASE_STATUSES = ['open', 'investigating', 'resolved', 'closed'] as const;
export const CaseStatus = ({ status }: { status: number }) => (
  <Look look={CASE[status] ?? UNKNOWN} name={`status ${status}`} />
);
export const isDone = (status: number): boolean => status === Case.resolved || status === Case.closed;

/** Of an interface: what it is, unless somebody switched it off, which is no fault. */
export function LinkStatus({ admin, oper }: { admin: string | null; oper: string | null }) {
  if (admin === 'down')
    return (
      <StatusLabel tone="idle" icon={IconBan}>
        disabled
      </StatusLabel>
    );
  const status = oper ?? 'unknown';
  return <Look look={LINK[status] ?? UNKNOWN} name={status} />;
}

export function CollectorStatus({ collector }: { collector: Pick<Collector, 'status' | 'online'> }) {
  if (collector.status === 'revoked')
    return (
      <StatusLabel tone="idle" icon={IconBan}>
        revoked
      </StatusLabel>
    );
  if (collector.status === 'quarantined')
    return (
      <StatusLabel tone="sev2" icon={IconLockExclamation}>
        quarantined
      </StatusLabel>
    );
  return collector.online ? (
    <StatusLabel tone="ok" icon={IconCircleCheckFilled}>
      online
    </StatusLabel>
  ) : (
    <StatusLabel tone="bad" icon={IconPlugConnectedX}>
      offline
    </StatusLabel>
  );
}

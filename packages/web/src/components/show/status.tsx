import type { Collector } from '@rollcall/shared/api/collectors';
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
const HEALTH: Record<string, Look> = {
  ok: ['ok', IconCircleCheckFilled],
  warning: ['warn', IconAlertTriangle],
  critical: ['bad', IconCircleXFilled],
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
  leased: ['busy', IconLoader2, 'scanning'],
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
  disabled: ['idle', IconBan],
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
const COLLECTOR: Record<Exclude<Collector['status'], 'active'> | 'online' | 'offline', Look> = {
  revoked: ['idle', IconBan],
  quarantined: ['sev2', IconLockExclamation],
  online: ['ok', IconCircleCheckFilled],
  offline: ['bad', IconPlugConnectedX],
};
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
/** Of a sensor or a device, as it is judged. */
export const HealthStatus = ({ health, short = false }: { health: string; short?: boolean }) => (
  <Look look={HEALTH[health] ?? UNKNOWN} name={health} short={short} />
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

/** Of an interface: what it is, unless somebody switched it off, which is no fault. */
export function LinkStatus({ admin, oper }: { admin: string | null; oper: string | null }) {
  const status = admin === 'down' ? 'disabled' : (oper ?? 'unknown');
  return <Look look={LINK[status] ?? UNKNOWN} name={status} />;
}

export function CollectorStatus({ collector }: { collector: Pick<Collector, 'status' | 'online'> }) {
  const connection = collector.online ? 'online' : 'offline';
  const status = collector.status === 'active' ? connection : collector.status;
  return <Look look={COLLECTOR[status]} name={status} />;
}

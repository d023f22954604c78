import { Group, Text } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconClockPause,
  IconLoader2,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';

type Tone = 'ok' | 'bad' | 'idle' | 'sev-3' | 'accent';

/** A state as shape, colour and word. */
export function Mark({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }) {
  return (
    <Group gap={5} wrap="nowrap" c={`var(--${tone})`}>
      {icon}
      <Text size="sm" c="inherit">
        {children}
      </Text>
    </Group>
  );
}

const size = 14;

export function DeviceStatus({ status }: { status: 'up' | 'down' | 'unknown' }) {
  if (status === 'up')
    return (
      <Mark tone="ok" icon={<IconCircleCheckFilled size={size} aria-hidden />}>
        up
      </Mark>
    );
  if (status === 'down')
    return (
      <Mark tone="bad" icon={<IconCircleXFilled size={size} aria-hidden />}>
        down
      </Mark>
    );
  return (
    <Mark tone="idle" icon={<IconCircleDashed size={size} aria-hidden />}>
      unknown
    </Mark>
  );
}

export function ScanStatus({ status }: { status: string }) {
  switch (status) {
    case 'queued':
      return (
        <Mark tone="idle" icon={<IconClockPause size={size} aria-hidden />}>
          queued
        </Mark>
      );
    case 'running':
      return (
        <Mark tone="accent" icon={<IconLoader2 size={size} aria-hidden />}>
          running
        </Mark>
      );
    case 'completed':
      return (
        <Mark tone="ok" icon={<IconCircleCheckFilled size={size} aria-hidden />}>
          completed
        </Mark>
      );
    case 'partial':
      return (
        <Mark tone="sev-3" icon={<IconAlertTriangle size={size} aria-hidden />}>
          partial
        </Mark>
      );
    case 'failed':
      return (
        <Mark tone="bad" icon={<IconCircleXFilled size={size} aria-hidden />}>
          failed
        </Mark>
      );
    default:
      return (
        <Mark tone="idle" icon={<IconCircleDashed size={size} aria-hidden />}>
          {status}
        </Mark>
      );
  }
}

import { Group, Text } from '@mantine/core';
import {
  IconAlertOctagonFilled,
  IconAlertSquareFilled,
  IconAlertTriangleFilled,
  IconExclamationCircle,
  IconInfoCircle,
} from '@tabler/icons-react';

/** Severities 1–5 of the API document, each with a word, a shape and a colour: never colour alone. */
export const SEVERITIES = [
  { code: 1, name: 'critical', icon: IconAlertOctagonFilled },
  { code: 2, name: 'major', icon: IconAlertTriangleFilled },
  { code: 3, name: 'minor', icon: IconAlertSquareFilled },
  { code: 4, name: 'warning', icon: IconExclamationCircle },
  { code: 5, name: 'info', icon: IconInfoCircle },
] as const;

export const severityName = (code: number): string => SEVERITIES[code - 1]?.name ?? 'unknown';

export function SeverityMark({ code, word = true }: { code: number; word?: boolean }) {
  const severity = SEVERITIES[code - 1];
  if (!severity) return null;
  const Icon = severity.icon;
  const label = severity.name;
  return (
    <Group gap={5} wrap="nowrap" c={`var(--sev-${code})`}>
      <Icon
        size={15}
        aria-hidden={word}
        aria-label={word ? undefined : label}
        role={word ? undefined : 'img'}
      />
      {word && (
        <Text size="sm" fw={500} c="inherit">
          {label}
        </Text>
      )}
    </Group>
  );
}

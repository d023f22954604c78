import {
  IconAlertOctagonFilled,
  IconAlertSquareFilled,
  IconAlertTriangleFilled,
  IconExclamationCircle,
  IconInfoCircle,
} from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import classes from './labels.module.css';

export type Tone = 'ok' | 'bad' | 'idle' | 'busy' | 'warn' | 'sev1' | 'sev2' | 'sev3' | 'sev4' | 'sev5';
export type Icon = ComponentType<{
  size?: number;
  stroke?: number;
  color?: string;
  className?: string | undefined;
}>;

interface StatusLabelProps {
  tone: Tone;
  icon: Icon;
  word?: boolean;
  spin?: boolean;
  children: ReactNode;
}

/** A state as shape, colour and word: never colour alone. Without the word, the word is for screen readers. */
export function StatusLabel({ tone, icon: Icon, word = true, spin = false, children }: StatusLabelProps) {
  return (
    <span className={`iconed ${classes[tone]}`} title={word ? undefined : String(children)}>
      <Icon size={14} aria-hidden className={spin ? classes.spin : undefined} />
      <span className={word ? 'cut' : 'hidden'}>{children}</span>
    </span>
  );
}

/** Severities 1–5 of the API document. */
export const SEVERITIES = [
  { code: 1, name: 'critical', icon: IconAlertOctagonFilled },
  { code: 2, name: 'major', icon: IconAlertTriangleFilled },
  { code: 3, name: 'minor', icon: IconAlertSquareFilled },
  { code: 4, name: 'warning', icon: IconExclamationCircle },
  { code: 5, name: 'info', icon: IconInfoCircle },
] as const;

export const severityName = (code: number): string => SEVERITIES[code - 1]?.name ?? `severity ${code}`;

export function Severity({ code, word = true }: { code: number; word?: boolean }) {
  const { name, icon } = SEVERITIES[code - 1] ?? { name: severityName(code), icon: IconInfoCircle };
  return (
    <StatusLabel tone={`sev${code}` as Tone} icon={icon} word={word}>
      {name}
    </StatusLabel>
  );
}

export const PRIORITIES = ['highest', 'high', 'normal', 'low'] as const;

/** Priority 1 (highest) to 4 as rising bars and a word. */
export function Priority({ code, word = true }: { code: number; word?: boolean }) {
  const name = PRIORITIES[code - 1] ?? `priority ${code}`;
  return (
    <span className="iconed" title={word ? undefined : `priority ${name}`}>
      <span className={classes.priority} data-highest={code === 1 || undefined} aria-hidden>
        {[4, 3, 2, 1].map((step, i) => (
          <i key={step} style={{ height: 3 + i * 2.6 }} data-on={code <= step || undefined} />
        ))}
      </span>
      <span className={word ? undefined : 'hidden'}>{word ? name : `priority ${name}`}</span>
    </span>
  );
}

/** A small label: a tag, a role, a version. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className={classes.tag}>{children}</span>;
}

export const Tags = ({ tags }: { tags: readonly string[] }) => (
  <span className={classes.tags}>
    {tags.map((tag) => (
      <Tag key={tag}>{tag}</Tag>
    ))}
  </span>
);

import { SegmentedControl } from '@mantine/core';
import type { Icon } from '../show/index.ts';

interface ViewSwitchProps {
  views: readonly { value: string; label: string; icon: Icon }[];
  view: string | undefined;
  onChange: (view: string | undefined) => void;
}

/** The same things shown in another way; the first one is what the address says nothing of. */
export function ViewSwitch({ views, view, onChange }: ViewSwitchProps) {
  const first = views[0]?.value ?? '';
  return (
    <SegmentedControl
      aria-label="Show as"
      value={views.find(({ value }) => value === view)?.value ?? first}
      onChange={(value) => onChange(value === first ? undefined : value)}
      data={views.map(({ value, label, icon: Icon }) => ({
        value,
        label: (
          <span className="iconed">
            <Icon size={14} aria-hidden />
            {label}
          </span>
        ),
      }))}
    />
  );
}

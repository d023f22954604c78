import { Button, Popover, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { usePreferences } from '../../preferences.ts';
import { absolute, fromWallClock, toWallClock, useNow } from '../show/index.ts';
import { FilterButton } from './choice-filter.tsx';

/** The moment that a page shows, Unix seconds, as its address has it; undefined: now. */
interface Moment {
  at: string | undefined;
  onChange: (at: string | undefined) => void;
}

/** Digits alone are a moment. */
const MOMENT = /^\d{1,11}$/;
export const momentOf = (at: string | undefined): string | undefined =>
  at !== undefined && MOMENT.test(at) ? at : undefined;

/** Chooses the moment that a page shows. */
export function AsOf({ at, onChange }: Moment) {
  const { zone } = usePreferences();
  const [opened, setOpened] = useState(false);
  const now = toWallClock(Math.floor(useNow() / 1000), zone);
  const form = useForm({ initialValues: { at: '' } });
  const take = (next: string | undefined) => {
    onChange(next);
    setOpened(false);
  };
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      trapFocus
      onOpen={() => form.setValues({ at: at ? toWallClock(Number(at), zone) : now })}
    >
      <Popover.Target>
        <FilterButton
          label="As of"
          said={at ? absolute(Number(at), zone).slice(0, 16) : ''}
          onClick={() => setOpened((was) => !was)}
        />
      </Popover.Target>
      <Popover.Dropdown aria-label="As of a moment">
        <form onSubmit={form.onSubmit((values) => take(String(fromWallClock(values.at, zone))))}>
          <Stack gap={8}>
            <TextInput label="Moment" type="datetime-local" max={now} {...form.getInputProps('at')} />
            <p className="quiet">{zone === 'local' ? 'Local time' : zone}</p>
            <Button type="submit" disabled={!form.values.at}>
              Show
            </Button>
            {at && (
              <Button variant="subtle" onClick={() => take(undefined)}>
                Now
              </Button>
            )}
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Says that a page does not show what is now, and leads back. */
export function AsOfNote({ at, onChange, children }: Moment & { children?: ReactNode }) {
  const { zone } = usePreferences();
  if (!at) return null;
  return (
    <div className="panel strip moment" role="status">
      <p>
        <b>As of {absolute(Number(at), zone)}.</b> {children}
      </p>
      <Button variant="default" onClick={() => onChange(undefined)}>
        Back to now
      </Button>
    </div>
  );
}

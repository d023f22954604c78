import { MultiSelect, NumberInput, Select, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useState } from 'react';
import { cronInWords, DAYS, EVERY, type Recurrence, readCron, writeCron } from '../../cron.ts';

/** Of a field for what machines read: addresses, cron lines. */
export const MONO = { input: { fontFamily: 'var(--mono)' } };

const WORDS: Record<Recurrence['every'], string> = {
  hour: 'Every hour',
  day: 'Every day',
  workday: 'Monday to Friday',
  week: 'Every week',
  month: 'Every month',
  cron: 'Advanced: cron',
};
const CHOICES = EVERY.map((value) => ({ value, label: WORDS[value] }));
const WEEKDAYS = DAYS.map((label, day) => ({ value: String(day), label }));

/** When something happens again and again, chosen in words; a cron line for what these cannot say. */
export function RecurrenceField({
  label,
  value,
  onChange,
  error,
}: GetInputPropsReturnType & { label: string }) {
  const read = readCron(value);
  const [advanced, setAdvanced] = useState(read.every === 'cron');
  const chosen: Recurrence = advanced ? { ...read, every: 'cron' } : read;
  const set = (next: Partial<Recurrence>) => onChange(writeCron({ ...chosen, ...next }));
  const choose = (every: Recurrence['every']) => {
    setAdvanced(every === 'cron');
    if (every !== 'cron') set({ every });
  };
  return (
    <>
      <Select
        label={label}
        description={cronInWords(value)}
        data={CHOICES}
        allowDeselect={false}
        value={chosen.every}
        onChange={(every) => choose(every as Recurrence['every'])}
        error={chosen.every === 'cron' ? undefined : error}
      />
      {chosen.every === 'cron' ? (
        <TextInput
          label="Cron line"
          description="minute, hour, day, month, weekday"
          required
          styles={MONO}
          value={value}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <Times {...{ chosen, set }} />
      )}
    </>
  );
}

function Times({ chosen, set }: { chosen: Recurrence; set: (next: Partial<Recurrence>) => void }) {
  const { every, time, weekdays, day } = chosen;
  if (every === 'hour')
    return (
      <NumberInput
        label="Minutes past the hour"
        min={0}
        max={59}
        value={Number(time.slice(3))}
        onChange={(minute) => set({ time: `00:${minute || 0}` })}
      />
    );
  return (
    <>
      <TextInput
        type="time"
        label="At"
        required
        value={time}
        onChange={(event) => event.currentTarget.value && set({ time: event.currentTarget.value })}
      />
      {every === 'week' && (
        <MultiSelect
          label="On"
          data={WEEKDAYS}
          value={weekdays.map(String)}
          onChange={(days) => days.length > 0 && set({ weekdays: days.map(Number).sort() })}
        />
      )}
      {every === 'month' && (
        <NumberInput
          label="On day"
          min={1}
          max={31}
          value={day}
          onChange={(next) => set({ day: Number(next) || 1 })}
        />
      )}
    </>
  );
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((zone) => ({
  value: zone,
  label: zone,
}));
/** The zone this computer is in. */
export const ZONE_HERE: string = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function ZoneField({ description, ...field }: GetInputPropsReturnType & { description: string }) {
  return (
    <Select
      {...field}
      label="Time zone"
      description={description}
      searchable
      limit={50}
      // The zone database has other names for some, which programs may have given.
      data={
        ZONES.some(({ value }) => value === field.value)
          ? ZONES
          : [{ value: field.value, label: field.value }, ...ZONES]
      }
    />
  );
}

import { Select, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { CRON_EXAMPLES, cronInWords } from '../../cron.ts';

/** Of a field for what machines read: addresses, cron lines. */
export const MONO = { input: { fontFamily: 'var(--mono)' } };

/** When something happens again and again: five fields, and beneath them the same in words. */
export function CronField({ label, ...field }: GetInputPropsReturnType & { label: string }) {
  return (
    <>
      <TextInput
        {...field}
        label={label}
        description={cronInWords(field.value)}
        required
        list="cron-examples"
        styles={MONO}
      />
      <datalist id="cron-examples">
        {CRON_EXAMPLES.map((example) => (
          <option key={example} value={example}>
            {cronInWords(example)}
          </option>
        ))}
      </datalist>
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

import { MultiSelect, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { ANNOTATED } from '@rollcall/shared/api/annotations';
import {
  EVENT_KINDS_MOST,
  type Subscription,
  type SubscriptionHours,
} from '@rollcall/shared/api/subscriptions';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import {
  ChecksField,
  FieldFiltersField,
  Pair,
  TagsField,
  ZONE_HERE,
  ZoneField,
} from '../../components/form/index.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((label, at) => ({
  value: String(at + 1),
  label,
}));
const OFFICE: SubscriptionHours = { timezone: ZONE_HERE, days: [1, 2, 3, 4, 5], from: '08:00', to: '18:00' };

/** Which cases, and when. */
export const choiceValues = (one: Subscription | undefined) => {
  const { days, ...hours } = one?.hours ?? OFFICE;
  return {
    tags: one?.tags ?? [],
    fields: one?.fields ?? [],
    classes: (one?.classes ?? []) as string[],
    eventKinds: one?.eventKinds ?? [],
    hasHours: one?.hours != null,
    hours: { ...hours, days: days.map(String) },
  };
};
type ChoiceValues = ReturnType<typeof choiceValues>;

export const choiceBody = ({ tags, fields, classes, eventKinds, hasHours, hours }: ChoiceValues) => ({
  tags,
  fields,
  classes: classes as Subscription['classes'],
  eventKinds,
  hours: hasHours ? { ...hours, days: hours.days.map(Number).sort() } : null,
});

/** `08:00–18:00 Mon, Tue Europe/Berlin` */
export const hoursInWords = ({ days, from, to, timezone }: SubscriptionHours): string =>
  `${from}–${to} ${days.map((day) => DAYS[day - 1]?.label).join(', ')} ${timezone}`;

export function ChoiceFields<Values extends ChoiceValues>({ form }: { form: UseFormReturnType<Values> }) {
  const { values } = form;
  const field = (name: string, options?: { type: 'checkbox' }) => form.getInputProps(name as never, options);
  return (
    <>
      <TagsField
        description="Only cases of devices or interfaces with one of them; empty: all"
        {...field('tags')}
      />
      <FieldFiltersField
        of={ANNOTATED}
        description="Only cases of devices or interfaces with one of these values; empty: all"
        {...field('fields')}
      />
      <MultiSelect
        label="Classes"
        description="Only cases of devices of one of them; empty: all"
        data={[...DEVICE_CLASSES]}
        searchable
        {...field('classes')}
      />
      <TagsField
        {...field('eventKinds')}
        label="Kinds of event"
        description="Only cases with an event of one of them, such as device.down; empty: all"
        maxTags={EVENT_KINDS_MOST}
      />
      <Switch
        label="Only at certain hours"
        description="At other times only updates of cases that were sent already"
        {...field('hasHours', { type: 'checkbox' })}
      />
      {values.hasHours && (
        <>
          <ChecksField label="Days" choices={DAYS} {...field('hours.days')} />
          <Pair>
            <TextInput type="time" label="From" required {...field('hours.from')} />
            <TextInput
              type="time"
              label="To"
              description={values.hours.to <= values.hours.from ? 'of the next day' : undefined}
              required
              {...field('hours.to')}
            />
          </Pair>
          <ZoneField description="For these hours" {...field('hours.timezone')} />
        </>
      )}
    </>
  );
}

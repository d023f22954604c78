import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { FieldGroup, Pair, RecurrenceField, ZONE_HERE, ZoneField } from '../../components/form/index.ts';
import type { FormOf } from '../../components/list/index.ts';
import { EditDialog } from '../../components/list/index.ts';
import { duration } from '../../components/show/index.ts';
import { usePreferences } from '../../preferences.ts';
import { splitCodes } from '../../search.ts';
import { ScopeFields, type ScopeValues } from './scope-fields.tsx';
import {
  coveredBy,
  isNamed,
  scopeOf,
  spanInWords,
  type Typed,
  timesOf,
  typedTimes,
  usualTimes,
} from './window-values.ts';

interface WindowValues extends ScopeValues {
  name: string;
  note: string;
  siteId: string;
  timezone: string;
  times: Typed;
}

/** Plans maintenance, or changes what was planned; `site` and `device` to begin with: ids separated by commas, of one site. */
export function WindowForm({
  site: givenSite,
  device,
  ...props
}: FormOf<MaintenanceWindow> & { site: string | undefined; device: string | undefined }) {
  const sites = useSiteChoices();
  const preferred = usePreferences().zone;
  const { one } = props;
  const devices = splitCodes(device);
  const first = useQuery({
    ...apiQuery('devices.get', { params: { id: devices[0] ?? '' } }),
    enabled: device !== undefined,
  });
  const begun = one?.timezone ?? (preferred === 'local' ? ZONE_HERE : preferred);
  const form = useForm<WindowValues>({
    initialValues: {
      name: one?.name ?? '',
      note: one?.note ?? '',
      siteId: one?.siteId ?? givenSite ?? '',
      timezone: begun,
      times: one ? typedTimes(one) : usualTimes(begun),
      scope: coveredBy(one?.scope ?? (device ? { deviceIds: devices } : {})),
    },
  });
  const { name, note, timezone, times, scope } = form.values;
  const site =
    form.values.siteId || first.data?.data.siteId || (!device && sites.length === 1 && sites[0]?.value) || '';
  const body = () => ({ name, note, timezone, scope: scopeOf(scope), times: timesOf(times, timezone) });
  return (
    <EditDialog
      kind="maintenance"
      of={props}
      form={form}
      create={() => ({ ...body(), siteId: site })}
      update={body}
      {...(!one && { title: 'Plan maintenance', submit: 'Plan it' })}
      ready={site !== '' && isNamed(scope)}
      size={600}
    >
      <Pair>
        <TextInput
          label="Name"
          placeholder="Core upgrade"
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Site"
          placeholder="Choose one"
          disabled={one !== undefined}
          data={sites}
          {...form.getInputProps('siteId')}
          value={site}
          onChange={(id) =>
            // Devices are of one site.
            form.setValues({ siteId: id ?? '', scope: { ...scope, deviceIds: [] } })
          }
        />
      </Pair>
      <FieldGroup label="When">
        <SegmentedControl
          aria-label="How often"
          data={[
            { value: 'once', label: 'Once' },
            { value: 'repeat', label: 'Repeating' },
          ]}
          {...form.getInputProps('times.kind')}
        />
        {times.kind === 'once' ? (
          <Pair>
            <WhenField label="Begins" required {...form.getInputProps('times.from')} />
            <WhenField label="Ends" required {...form.getInputProps('times.until')} />
          </Pair>
        ) : (
          <Pair>
            <RecurrenceField label="Begins" {...form.getInputProps('times.cron')} />
            <TextInput
              label="Duration, minutes"
              description={duration(Number(times.minutes) * 60)}
              type="number"
              min={1}
              required
              {...form.getInputProps('times.minutes')}
            />
          </Pair>
        )}
        <Pair>
          <ZoneField description="Of all times here" {...form.getInputProps('timezone')} />
          {times.kind === 'once' ? (
            <p className="quiet">{spanInWords(times, timezone)}</p>
          ) : (
            <WhenField
              label="Repeat until"
              description="Empty: for ever"
              {...form.getInputProps('times.last')}
              error={form.errors['times.until']}
            />
          )}
        </Pair>
      </FieldGroup>
      <ScopeFields site={site} form={form} />
      <Textarea label="Note" placeholder="What is done, by whom, ticket" {...form.getInputProps('note')} />
    </EditDialog>
  );
}

const WhenField = (props: ComponentProps<typeof TextInput>) => <TextInput type="datetime-local" {...props} />;

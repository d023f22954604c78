import { MultiSelect, SegmentedControl, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { SearchBox } from '../../components/filter/index.ts';
import { Choices, FieldFiltersField, FieldGroup, Pair, TagsField } from '../../components/form/index.ts';
import { DeviceChoice } from '../../components/show/index.ts';
import { plural } from '../../format.ts';

import { type Covered, isNamed, scopeOf } from './window-values.ts';

export interface ScopeValues {
  scope: Covered;
}

const VIEW_MODES = [
  { value: 'site', label: 'Whole site' },
  { value: 'filter', label: 'By filter' },
  { value: 'list', label: 'Chosen devices' },
];

const OF_DEVICES = ['device'] as const;

/** Which devices of the site, and how many these are today. */
export function ScopeFields({ site, form }: { site: string; form: UseFormReturnType<ScopeValues> }) {
  const covered = form.values.scope;
  return (
    <FieldGroup label="Covers">
      <SegmentedControl aria-label="Covers" data={VIEW_MODES} {...form.getInputProps('scope.by')} />
      {covered.by === 'filter' && (
        <>
          <MultiSelect
            label="Classes"
            placeholder={covered.classes.length === 0 ? 'any' : ''}
            data={[...DEVICE_CLASSES]}
            {...form.getInputProps('scope.classes')}
          />
          <TagsField description="Devices that have all of them" {...form.getInputProps('scope.tags')} />
          <FieldFiltersField
            of={OF_DEVICES}
            description="Devices that have all of these values"
            {...form.getInputProps('scope.fields')}
            error={form.errors['scope.field']}
          />
          <Pair>
            <TextInput label="Search text" placeholder="floor-3" {...form.getInputProps('scope.search')} />
            <TextInput
              label="Address or CIDR"
              placeholder="10.20.3.0/24"
              {...form.getInputProps('scope.Address')}
            />
          </Pair>
        </>
      )}
      {covered.by === 'list' && (
        <Devices
          site={site}
          chosen={covered.deviceIds}
          onChange={(deviceIds) => form.setFieldValue('scope.deviceIds', deviceIds)}
        />
      )}
      <HowMany site={site} covered={covered} />
    </FieldGroup>
  );
}

function HowMany({ site, covered }: { site: string; covered: Covered }) {
  const { class: names, tag, field, search, Address } = scopeOf({ ...covered, by: 'filter' });
  const filtered = covered.by === 'filter';
  const found = useQuery({
    ...apiQuery('devices.list', {
      query: {
        site,
        pageSize: 1,
        ...(filtered && { ...(names && { class: names.join(',') }), tag, field, search, Address }),
      } as never,
    }),
    enabled: site !== '' && covered.by !== 'list' && isNamed(covered),
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (!isNamed(covered))
    return <p className="quiet">Name at least one device, class, tag, custom field, word or address.</p>;
  const count = covered.by === 'list' ? covered.deviceIds.length : found.data?.totalCount;
  if (count === undefined || found.error) return <p className="quiet">&nbsp;</p>;
  return (
    <p className="quiet">
      <b>{plural(count, 'device')}</b> today
      {covered.by === 'site' && ', and the collectors of the site'}
      {filtered && '; what matches later is covered, too'}
    </p>
  );
}

interface DevicesProps {
  site: string;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}

function Devices({ site, chosen, onChange }: DevicesProps) {
  const [search, setSearch] = useState('');
  // Those chosen when the list was opened stand first, whatever is searched for.
  const [first] = useState(chosen.slice(0, 50));
  const known = useQueries({ queries: first.map((id) => apiQuery('devices.get', { params: { id } })) });
  const found = useQuery({
    ...apiQuery('devices.list', { query: { search, site, pageSize: 50 } }),
    enabled: site !== '',
    placeholderData: keepPreviousData,
  });
  const begun = known.flatMap(({ data }) => data?.data ?? []);
  const shown = [
    ...begun,
    ...(found.data?.data ?? []).filter(({ id }) => !begun.some((one) => one.id === id)),
  ];
  return (
    <>
      <SearchBox label="Find devices" placeholder="Name, address" value={search} onChange={setSearch} />
      <Choices
        many
        items={site === '' || found.data ? shown : undefined}
        chosen={chosen}
        onChange={onChange}
        empty={site === '' ? 'Choose the site first.' : 'No device of this site matches.'}
      >
        {(one) => <DeviceChoice device={one} />}
      </Choices>
    </>
  );
}

import { Button, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { ANNOTATED } from '@rollcall/shared/api/annotations';
import {
  HOLD_SECONDS,
  INFRASTRUCTURE,
  SITE_DEFAULTS,
  type Site,
  THRESHOLDS,
} from '@rollcall/shared/api/sites';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { IconLayoutDashboard, IconPlug, IconServer } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../components/feedback/index.ts';
import { choicesOf, Filters } from '../components/filter/index.ts';
import { FieldFiltersField, FieldGroup, Pair, TagsField } from '../components/form/index.ts';
import { Collection, EditDialog, type FormOf, NewButton } from '../components/list/index.ts';
import { Page } from '../components/page/index.ts';
import { type Column, timeColumn, usePagedList } from '../components/table/index.ts';
import { useMay } from '../session.tsx';
import { useUrlState } from '../url-state.ts';
import { forFields, forTags, noThresholds, siteBody, siteValues } from './site-values.ts';

type Setting = keyof typeof SITE_DEFAULTS;
/** One field each: a setting without a field does not compile. */
const FIELDS: Record<Setting, { short: string; unit?: string; label: string; description: string }> = {
  watchIcmpSeconds: {
    short: 'ping every',
    unit: 's',
    label: 'Ping every, s',
    description: 'Monitored devices',
  },
  watchSnmpSeconds: {
    short: 'SNMP every',
    unit: 's',
    label: 'Read SNMP every, s',
    description: 'Monitored devices',
  },
  watchTablesSeconds: {
    short: 'tables every',
    unit: 's',
    label: 'Read neighbours and tables every, s',
    description: 'Forwarding and ARP tables, of monitored switches and routers; 0: never',
  },
  watchNamesSeconds: {
    short: 'names every',
    unit: 's',
    label: 'Look up names of endpoints every, s',
    description: 'By reverse DNS, by the resolvers of the collector’s host; 0: never',
  },
  missedScansUntilGone: {
    short: 'gone after',
    unit: 'scans',
    label: 'Gone after',
    description: 'Scans in a row that did not find it',
  },
  snmpPort: { short: 'SNMP port', label: 'SNMP port', description: 'Unless the profile has one' },
  caseWindowSeconds: {
    short: 'case window',
    unit: 's',
    label: 'Case window, s',
    description: 'Linked devices that go down within this time share a case',
  },
  caseReopenSeconds: {
    short: 'reopens within',
    unit: 's',
    label: 'Case reopens within, s',
    description: 'The same problem within this time reopens a resolved case',
  },
  caseMinimumEvents: {
    short: 'case from',
    unit: 'events',
    label: 'Events to open a case',
    description: 'Open events that belong together before a case is opened',
  },
  recoverySeconds: {
    short: 'recovery',
    unit: 's',
    label: 'Time to recover, s',
    description: 'How long devices behind one that is back may take to answer again',
  },
};
const SETTINGS = (Object.keys(FIELDS) as Setting[]).map((key) => ({
  key,
  usual: SITE_DEFAULTS[key],
  ...FIELDS[key],
}));

const LIMITS: readonly NumberField[] = [
  { key: 'utilisation', label: 'Interface utilisation, % of its speed', usual: THRESHOLDS.utilisation },
  { key: 'errors', label: 'Interface errors and discards, % of its packets', usual: THRESHOLDS.errors },
  {
    key: 'noTraffic',
    label: 'No traffic on an interface, if usually at least, packets/s',
    usual: THRESHOLDS.noTraffic,
  },
  { key: 'loss', label: 'Packet loss, % of pings', usual: THRESHOLDS.loss },
  { key: 'latency', label: 'Round trip, ms', usual: `baseline, else ${THRESHOLDS.latency}` },
];
const limitsOf = (name: string, usual: string): NumberField[] =>
  LIMITS.map(({ key, label }) => ({ key, label: `${name}: ${label}`, usual }));
const HELD = Object.entries(HOLD_SECONDS);

const COLUMNS: readonly Column<Site>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(120px, 0.8fr)',
    sort: 'name',
    narrow: true,
    cell: (one) => (
      <Link to="/" search={{ site: one.id }} className="plain">
        {one.name}
      </Link>
    ),
  },
  {
    id: 'networks',
    title: 'Networks',
    width: 'minmax(150px, 1.4fr)',
    narrow: true,
    mono: true,
    value: (one) => one.networks.join('  '),
  },
  {
    id: 'exclude',
    title: 'Never probed',
    width: 'minmax(110px, 1fr)',
    mono: true,
    value: (one) => one.exclude.join('  '),
  },
  {
    id: 'settings',
    title: 'Own settings',
    width: 'minmax(110px, 0.8fr)',
    value: (one) => Object.keys(one.settings).length,
    cell: (one) =>
      [
        ...SETTINGS.filter(({ key }) => one.settings[key] !== undefined).map(({ short, unit, key }) =>
          [short, one.settings[key], unit].filter((word) => word !== undefined).join(' '),
        ),
        ...Object.entries(one.settings.holdSeconds ?? {}).map(([kind, s]) => `${kind} after ${s} s`),
      ].join(', ') || <span className="quiet">defaults</span>,
  },
  timeColumn({ id: 'created', title: 'Created', sort: 'createdAt', at: (one) => one.createdAt }),
];

/** Places with address spaces of their own, and how each is swept and watched. */
export function Sites() {
  const { search, change } = useUrlState('/sites');
  const navigate = useNavigate();
  const may = useMay('sites.create');
  const source = usePagedList('sites.list', search);
  const go = (to: '/' | '/devices' | '/free-ports', one: Site) =>
    void navigate({ to, search: { site: one.id } });
  return (
    <Page
      title="Sites"
      count={source.total}
      fill
      actions={may && <NewButton change={change}>New site</NewButton>}
    >
      <Filters
        search={search}
        change={change}
        filters={[{ key: 'search', label: 'Search', placeholder: 'Name', width: 220 }]}
      />
      <Collection
        kind="sites"
        label="Sites"
        source={source}
        columns={COLUMNS}
        order="name"
        search={search}
        change={change}
        may={may}
        actions={(one) => [
          { label: 'Overview', icon: IconLayoutDashboard, run: () => go('/', one) },
          { label: 'Devices', icon: IconServer, run: () => go('/devices', one) },
          { label: 'Free ports', icon: IconPlug, run: () => go('/free-ports', one) },
        ]}
        onOpen={(one) => go('/', one)}
        form={(props) => <SiteForm {...props} />}
        lost={() => 'Only an empty site can be deleted: one without collectors, devices and scans.'}
        empty={<Empty title="No site">A site is a place with addresses of its own.</Empty>}
      />
    </Page>
  );
}

interface NumberField {
  key: string;
  label: string;
  description?: string;
  /** What holds where nothing is typed. */
  usual: number | string;
}
type SiteFormState = UseFormReturnType<ReturnType<typeof siteValues>>;

function Numbers({
  form,
  path,
  fields,
}: {
  form: SiteFormState;
  path: string;
  fields: readonly NumberField[];
}) {
  return (
    <Pair>
      {fields.map(({ key, label, description, usual }) => (
        <TextInput
          key={key}
          label={label}
          description={description}
          type="number"
          placeholder={String(usual)}
          {...form.getInputProps(`${path}.${key}`)}
        />
      ))}
    </Pair>
  );
}

function SiteForm(props: FormOf<Site>) {
  const form = useForm({ initialValues: siteValues(props.one) });
  const body = () => siteBody(form.values);
  const [opened, setOpen] = useState(props.one !== undefined);
  // What the server refuses is in sight.
  const isOpen = opened || Object.keys(form.errors).some((key) => !/^(name|networks)/.test(key));
  return (
    <EditDialog kind="sites" of={props} form={form} create={body} update={body} size={580}>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <Textarea
        label="Networks"
        description="CIDRs; a scan that names no site goes to the one that contains its targets"
        placeholder="10.20.0.0/16"
        minRows={3}
        {...form.getInputProps('networks')}
      />
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={isOpen}
        style={{ alignSelf: 'start' }}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Fewer settings' : 'More settings: monitoring, limits, hold times'}
      </Button>
      {isOpen && <MoreSettings form={form} />}
    </EditDialog>
  );
}

function MoreSettings({ form }: { form: SiteFormState }) {
  return (
    <>
      <Textarea
        label="Never probe"
        description="Addresses and CIDRs that no scan touches"
        minRows={3}
        {...form.getInputProps('exclude')}
      />
      <Select
        label="Monitor what scans find"
        description={`Infrastructure: ${INFRASTRUCTURE.join(', ')}`}
        data={[
          { value: 'infrastructure', label: 'Infrastructure' },
          { value: 'all', label: 'Every device' },
          { value: 'none', label: 'None automatically' },
        ]}
        {...form.getInputProps('monitorFound')}
      />
      <FieldGroup label="Settings: leave empty for the default">
        <Numbers form={form} path="settings" fields={SETTINGS} />
      </FieldGroup>
      <FieldGroup label="Thresholds that raise events; 0: off">
        <Numbers form={form} path="settings.thresholds" fields={LIMITS} />
      </FieldGroup>
      <ClassLimits form={form} />
      <FieldLimits form={form} />
      <TagLimits form={form} />
      <HoldTimes form={form} />
      <Switch
        label="Allow scans of 127.0.0.0/8 and ::1 (demonstration and tests)"
        {...form.getInputProps('allowLoopback', { type: 'checkbox' })}
      />
      <Switch
        label="Allow scans of multicast, link-local, broadcast and 0.0.0.0/8"
        description="A collector scans them only where the settings of its own host allow them too"
        {...form.getInputProps('allowSpecial', { type: 'checkbox' })}
      />
    </>
  );
}

function ClassLimits({ form }: { form: SiteFormState }) {
  const { classThresholds } = form.values.settings;
  return (
    <FieldGroup label="Thresholds for devices of one class">
      <Select
        aria-label="Class"
        placeholder="Add a class"
        data={choicesOf(DEVICE_CLASSES.filter((kind) => classThresholds[kind] === undefined))}
        value={null}
        onChange={(kind) => kind && form.setFieldValue(`settings.classThresholds.${kind}`, noThresholds())}
      />
      {Object.keys(classThresholds).map((kind) => (
        <Numbers
          key={kind}
          form={form}
          path={`settings.classThresholds.${kind}`}
          fields={limitsOf(kind, 'inherited')}
        />
      ))}
    </FieldGroup>
  );
}

function TagLimits({ form }: { form: SiteFormState }) {
  const { tagThresholds } = form.values.settings;
  return (
    <FieldGroup label="Thresholds for devices and interfaces with a tag">
      <TagsField
        label={undefined}
        aria-label="Tags"
        description="They override those of the class and of custom fields; if several tags match, the first listed applies"
        value={tagThresholds.map(({ tag }) => tag)}
        onChange={(tags) => form.setFieldValue('settings.tagThresholds', forTags(tags, tagThresholds))}
      />
      {tagThresholds.map(({ tag }, at) => (
        <Numbers
          key={tag}
          form={form}
          path={`settings.tagThresholds.${at}.thresholds`}
          fields={limitsOf(tag, 'inherited')}
        />
      ))}
    </FieldGroup>
  );
}

function FieldLimits({ form }: { form: SiteFormState }) {
  const { fieldThresholds } = form.values.settings;
  return (
    <FieldGroup label="Thresholds for devices and interfaces with a value of a custom field">
      <FieldFiltersField
        of={ANNOTATED}
        label={undefined}
        aria-label="Custom fields"
        description="They override those of the class; those of tags override these. If several match, the first listed applies"
        value={fieldThresholds.map(({ field }) => field)}
        error={form.errors['settings.fieldThresholds']}
        onChange={(fields) =>
          form.setFieldValue('settings.fieldThresholds', forFields(fields, fieldThresholds))
        }
      />
      {fieldThresholds.map(({ field }, at) => (
        <Numbers
          key={field}
          form={form}
          path={`settings.fieldThresholds.${at}.thresholds`}
          fields={limitsOf(field, 'inherited')}
        />
      ))}
    </FieldGroup>
  );
}

function HoldTimes({ form }: { form: SiteFormState }) {
  const { holdSeconds } = form.values.settings;
  return (
    <FieldGroup label="Seconds that a problem must last before it becomes an event">
      <Pair>
        {HELD.map(([kind, seconds]) => (
          <TextInput
            key={kind}
            label={kind}
            type="number"
            placeholder={String(seconds)}
            // Not by its path: kinds have dots in them.
            value={holdSeconds[kind]}
            error={form.errors[`settings.holdSeconds.${kind}`]}
            onChange={({ currentTarget: { value } }) =>
              form.setFieldValue('settings.holdSeconds', { ...holdSeconds, [kind]: value })
            }
          />
        ))}
      </Pair>
    </FieldGroup>
  );
}

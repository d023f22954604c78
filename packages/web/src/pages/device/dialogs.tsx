import { Checkbox } from '@mantine/core';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { DEVICE_CLASSES, type DeviceClass } from '@rollcall/shared/model';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { ask, askForEdit, call } from '../../api.ts';
import classes from '../../components/choices.module.css';
import { DeviceClassMark } from '../../components/device.tsx';
import { ChoiceField, Confirm, FormDialog, TextField } from '../../components/form.tsx';
import { say } from '../../components/problem.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import type { DeviceDialog } from './device.tsx';

interface Props {
  device: DeviceDetail;
  onClose: () => void;
}
const TOUCHED = ['devices', 'interfaces', 'topology', 'summary', 'events'] as const;

export function DeviceDialogs({ dialog, ...props }: Props & { dialog: DeviceDialog }) {
  if (dialog === 'edit') return <Edit {...props} />;
  if (dialog === 'merge') return <Merge {...props} />;
  if (dialog === 'split') return <SplitOff {...props} />;
  return <Forget {...props} />;
}

const BY_RULES = 'rules';
const CLASSES = [
  { value: BY_RULES, label: 'as the rules say' },
  ...DEVICE_CLASSES.map((name) => ({ value: name, label: name })),
];

function Edit({ device, onClose }: Props) {
  const explained = useQuery(askForEdit('devices.explain', { params: { id: device.id } }));
  const overrides = explained.data?.data.overrides;
  const [name, setName] = useState<string>();
  const [kind, setKind] = useState<string>();
  const refresh = useRefresh();
  const shownName = name ?? overrides?.name ?? '';
  const shownKind = kind ?? overrides?.class ?? BY_RULES;
  return (
    <FormDialog
      title="Name and class"
      opened
      onClose={onClose}
      ready={overrides !== undefined}
      submit="Save"
      onSubmit={async () => {
        await call('devices.update', {
          params: { id: device.id },
          body: {
            name: shownName.trim() || null,
            class: shownKind === BY_RULES ? null : (shownKind as DeviceClass),
          },
        });
        refresh(...TOUCHED);
      }}
    >
      <TextField
        path="name"
        label="Name"
        description="Empty: the name that discovery finds"
        placeholder={device.sysName ?? device.address ?? ''}
        value={shownName}
        onChange={setName}
        data-autofocus
      />
      <ChoiceField
        path="class"
        label="Class"
        choices={CLASSES}
        value={shownKind}
        onChange={setKind}
        searchable
      />
    </FormDialog>
  );
}

function Merge({ device, onClose }: Props) {
  const [search, setSearch] = useState('');
  const [other, setOther] = useState<{ id: string; name: string }>();
  const refresh = useRefresh();
  const found = useQuery({
    ...ask('devices.list', { query: { search, site: device.siteId, pageSize: 8 } }),
    placeholderData: keepPreviousData,
  });
  const choices = (found.data?.data ?? []).filter((one) => one.id !== device.id);
  return (
    <FormDialog
      title={`Merge with ${device.name}`}
      opened
      onClose={onClose}
      submit={other ? `Merge ${other.name} into ${device.name}` : 'Choose a device'}
      ready={other !== undefined}
      danger
      onSubmit={async () => {
        if (!other) return;
        await call('devices.merge', { params: { id: device.id }, body: { deviceId: other.id } });
        refresh(...TOUCHED);
        say('They are one device from now on. A split undoes it.');
      }}
    >
      <p className="quiet">
        Say that another device is this one. Its addresses, interfaces and events come here; later scans keep
        them one.
      </p>
      <SearchBox label="Find the other device" value={search} onChange={setSearch} width={400} />
      <ul className={classes.choices}>
        {choices.map((one) => (
          <li key={one.id}>
            <label data-on={other?.id === one.id || undefined}>
              <input
                type="radio"
                name="other"
                checked={other?.id === one.id}
                onChange={() => setOther({ id: one.id, name: one.name })}
              />
              <span className="cut">{one.name}</span>
              <span className="mono">{one.address}</span>
              <DeviceClassMark class={one.class} word={false} />
            </label>
          </li>
        ))}
        {found.data && choices.length === 0 && <li className="quiet">No other device fits.</li>}
      </ul>
    </FormDialog>
  );
}

function SplitOff({ device, onClose }: Props) {
  const [chosen, setChosen] = useState<string[]>([]);
  const refresh = useRefresh();
  const navigate = useNavigate();
  return (
    <FormDialog
      title={`Split addresses off ${device.name}`}
      opened
      onClose={onClose}
      submit="Split off"
      ready={chosen.length > 0 && chosen.length < device.addresses.length}
      danger
      onSubmit={async () => {
        const { data } = await call('devices.split', {
          params: { id: device.id },
          body: { addresses: chosen },
        });
        refresh(...TOUCHED);
        const made = data.devices.find((one) => one.id !== device.id);
        if (made) await navigate({ to: '/devices/$id', params: { id: made.id } });
        say('They are two devices from now on. A merge undoes it.');
      }}
    >
      <p className="quiet">
        Say that some of its addresses are another device. Later scans keep them apart. At least one address
        stays.
      </p>
      <div className={classes.checks}>
        {device.addresses.map((address) => (
          <Checkbox
            key={address}
            label={<span className="mono">{address}</span>}
            checked={chosen.includes(address)}
            onChange={(event) =>
              setChosen(
                event.currentTarget.checked ? [...chosen, address] : chosen.filter((one) => one !== address),
              )
            }
          />
        ))}
      </div>
    </FormDialog>
  );
}

function Forget({ device, onClose }: Props) {
  const refresh = useRefresh();
  const navigate = useNavigate();
  return (
    <Confirm
      title={`Forget ${device.name}?`}
      opened
      onClose={onClose}
      confirm="Forget"
      onConfirm={async () => {
        await call('devices.delete', { params: { id: device.id } });
        await navigate({ to: '/devices' });
        refresh('summary', 'topology', 'events', 'cases');
      }}
    >
      Its open events are closed, its history is kept. A later scan that finds it makes it a new device.
    </Confirm>
  );
}

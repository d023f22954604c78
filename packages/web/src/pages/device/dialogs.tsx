import { Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { DEVICE_CLASSES, type DeviceClass } from '@rollcall/shared/model';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { editQuery } from '../../api.ts';
import { Loaded, notify } from '../../components/feedback/index.ts';
import { choicesOf } from '../../components/filter/index.ts';
import { AnnotationDialog, Choices, Confirm, FormDialog, PickDialog } from '../../components/form/index.ts';
import { DeviceChoice } from '../../components/show/index.ts';
import { useAction, useSend } from '../../use-action.ts';

export type DeviceDialog = 'edit' | 'annotate' | 'merge' | 'split' | 'delete';

interface Props {
  device: DeviceDetail;
  onClose: () => void;
}
const TOUCHED = ['interfaces', 'topology', 'summary', 'events'] as const;

export function DeviceDialogs({ dialog, ...props }: Props & { dialog: DeviceDialog }) {
  if (dialog === 'edit') return <Edit {...props} />;
  if (dialog === 'annotate') return <Annotate {...props} />;
  if (dialog === 'merge') return <Merge {...props} />;
  if (dialog === 'split') return <SplitOff {...props} />;
  return <Delete {...props} />;
}

function Annotate({ device, onClose }: Props) {
  const send = useSend();
  return (
    <AnnotationDialog
      name={device.name}
      of="device"
      one={device}
      onClose={onClose}
      onSave={(body) => send('devices.update', { params: { id: device.id }, body })}
    />
  );
}

const BY_RULES = 'rules';
const CLASSES = [{ value: BY_RULES, label: 'automatic, by the rules' }, ...choicesOf(DEVICE_CLASSES)];

function Edit(props: Props) {
  const explained = useQuery(editQuery('devices.explain', { params: { id: props.device.id } }));
  return <Loaded query={explained}>{({ data }) => <NameAndClass {...props} {...data.overrides} />}</Loaded>;
}

function NameAndClass({
  device,
  onClose,
  name = null,
  class: kind = null,
}: Props & { name?: string | null; class?: DeviceClass | null }) {
  const form = useForm({ initialValues: { name: name ?? '', class: kind ?? BY_RULES } });
  const send = useSend(...TOUCHED);
  const save = () =>
    send('devices.update', {
      params: { id: device.id },
      body: {
        name: form.values.name.trim() || null,
        class: form.values.class === BY_RULES ? null : (form.values.class as DeviceClass),
      },
    });
  return (
    <FormDialog form={form} title="Name and class" onClose={onClose} onSubmit={save}>
      <TextInput
        label="Name"
        description="Empty: the name that discovery finds"
        placeholder={device.sysName ?? device.address ?? ''}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select label="Class" data={CLASSES} searchable {...form.getInputProps('class')} />
    </FormDialog>
  );
}

function Merge({ device, onClose }: Props) {
  const send = useSend(...TOUCHED);
  return (
    <PickDialog
      title={`Merge with ${device.name}`}
      intro="Say that another device is this one. Its addresses, interfaces and events come here; later scans keep them one."
      id={device.id}
      list="devices.list"
      query={(search) => ({ search, site: device.siteId })}
      label="Find the other device"
      empty="No other device matches."
      choose="Choose a device"
      confirm={(other) => `Merge ${other.name} into ${device.name}`}
      danger
      onPick={async (other) => {
        await send('devices.merge', { params: { id: device.id }, body: { deviceId: other.id } });
        notify('They are one device from now on. A split undoes it.');
      }}
      onClose={onClose}
    >
      {(one) => <DeviceChoice device={one} />}
    </PickDialog>
  );
}

function SplitOff({ device, onClose }: Props) {
  const [chosen, setChosen] = useState<string[]>([]);
  const send = useSend(...TOUCHED);
  const navigate = useNavigate();
  return (
    <FormDialog
      title={`Split addresses off ${device.name}`}
      onClose={onClose}
      submit="Split off"
      ready={chosen.length > 0 && chosen.length < device.addresses.length}
      danger
      onSubmit={async () => {
        const body = { addresses: chosen };
        const { data } = await send('devices.split', { params: { id: device.id }, body });
        const made = data.devices.find((one) => one.id !== device.id);
        if (made) await navigate({ to: '/devices/$id', params: { id: made.id } });
        notify('They are two devices from now on. A merge undoes it.');
      }}
    >
      <p className="quiet">
        The addresses that you choose become another device, and later scans keep them apart. At least one
        address stays.
      </p>
      <Choices
        many
        items={device.addresses.map((id) => ({ id }))}
        chosen={chosen}
        onChange={setChosen}
        empty="It has no address."
      >
        {({ id }) => <span className="mono">{id}</span>}
      </Choices>
    </FormDialog>
  );
}

function Delete({ device, onClose }: Props) {
  const navigate = useNavigate();
  const remove = useAction('devices.delete', {
    failed: `${device.name} was not deleted`,
    touches: ['summary', 'topology', 'events', 'cases'],
  });
  return (
    <Confirm
      title={`Delete ${device.name}?`}
      onClose={onClose}
      confirm="Delete"
      onConfirm={async () => {
        // Away first: this page would ask about something that is gone.
        await navigate({ to: '/devices' });
        await remove.run({ params: { id: device.id } });
      }}
    >
      Its open events are closed, its history is kept. A later scan that finds it makes it a new device.
    </Confirm>
  );
}

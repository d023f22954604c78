import { Select, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { DEVICE_CLASSES, type DeviceClass } from '@rollcall/shared/model';
import { useSiteChoices } from '../../choices.ts';
import { notify } from '../../components/feedback/index.ts';
import { choicesOf } from '../../components/filter/index.ts';
import {
  AnnotationFields,
  annotationBody,
  annotationValues,
  FormDialog,
  Pair,
  useCustomFields,
} from '../../components/form/index.ts';
import { useSend } from '../../use-action.ts';

const CLASSES = choicesOf(DEVICE_CLASSES);

/** A device before it answers. */
export function AddDevice({ site, onClose }: { site?: string | undefined; onClose: () => void }) {
  const sites = useSiteChoices();
  const defined = useCustomFields('device');
  const send = useSend('summary', 'topology');
  const form = useForm({
    initialValues: { site: site ?? '', address: '', name: '', class: '', monitor: false },
  });
  const said = useForm({ initialValues: annotationValues() });
  const { name, address, class: kind, monitor } = form.values;
  const save = async () => {
    const { data } = await send('devices.create', {
      body: {
        site: form.values.site || (sites[0]?.value ?? ''),
        address: address.trim(),
        ...(name.trim() && { name }),
        ...(kind && { class: kind as DeviceClass }),
        monitor: monitor ? 1 : 0,
        ...annotationBody(said.values, defined),
      },
    });
    notify(`${data.name} is added`);
  };
  const setErrors: typeof form.setErrors = (errors) => {
    form.setErrors(errors);
    said.setErrors(errors);
  };
  return (
    <FormDialog
      form={{ setErrors }}
      title="Add a device"
      submit="Add"
      onClose={onClose}
      onSubmit={save}
      size={520}
    >
      <p className="quiet">
        The device is listed even before it answers. A scan recognises it by its address and overwrites
        nothing that is set here.
      </p>
      <Pair>
        <Select
          label="Site"
          data={sites}
          {...form.getInputProps('site')}
          value={form.values.site || (sites[0]?.value ?? null)}
          allowDeselect={false}
        />
        <TextInput
          label="Address"
          required
          placeholder="10.20.0.7"
          data-autofocus
          {...form.getInputProps('address')}
        />
        <TextInput label="Name" placeholder="the name that discovery finds" {...form.getInputProps('name')} />
        <Select
          label="Class"
          data={CLASSES}
          searchable
          clearable
          placeholder="automatic"
          {...form.getInputProps('class')}
          value={kind || null}
          onChange={(next) => form.setFieldValue('class', next ?? '')}
        />
      </Pair>
      <AnnotationFields form={said} defined={defined} />
      <Switch label="Monitor it" {...form.getInputProps('monitor', { type: 'checkbox' })} />
    </FormDialog>
  );
}

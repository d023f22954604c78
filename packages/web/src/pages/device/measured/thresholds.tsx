import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Threshold } from '@rollcall/shared/api/sites';
import type { AppliedThreshold, ThresholdLayer, ThresholdState } from '@rollcall/shared/api/thresholds';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../../api.ts';
import { FormDialog } from '../../../components/form/index.ts';
import { Entry, Panel } from '../../../components/page/index.ts';
import { useMay } from '../../../session.tsx';
import { useSend } from '../../../use-action.ts';

const WORDS: Record<Threshold, string> = {
  utilisation: 'Interface utilisation',
  errors: 'Interface errors and discards',
  noTraffic: 'No traffic on an interface, if usually at least',
  loss: 'Packet loss',
  latency: 'Round trip',
};
const FROM: Record<ThresholdLayer, string> = {
  default: 'the default',
  baseline: 'usual at this hour of the week',
  site: 'of the site',
  class: 'of its class',
  field: 'of the custom field',
  tag: 'of the tag',
  device: 'of the device',
  interfaceField: 'of the interface’s custom field',
  interfaceTag: 'of the interface’s tag',
  interface: 'of the interface',
};

const UNIT: Record<Threshold, string> = {
  utilisation: '% of its speed',
  errors: '% of its packets',
  noTraffic: 'packets/s',
  loss: '% of pings',
  latency: 'ms',
};
const shown = (of: Threshold, value: number): string => (value === 0 ? 'off' : `${value} ${UNIT[of]}`);
type Said = Pick<AppliedThreshold, 'from' | 'tag' | 'field'>;
const fromOf = ({ from, tag, field }: Said): string => [FROM[from], tag ?? field].filter(Boolean).join(' ');
/** Why this value: who said it, and what the others say that it stands before. */
function why({ of, said, ...last }: AppliedThreshold): string {
  const others = said.slice(0, -1).map((one) => `${fromOf(one)}: ${shown(of, one.value)}`);
  return others.length === 0 ? fromOf(last) : `${fromOf(last)}; otherwise ${others.reverse().join(', ')}`;
}

/** From where on measurements of a device, or of one interface, are events, and who says so. */
export function Thresholds({ of, id, name }: { of: 'devices' | 'interfaces'; id: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay(`${of}.setThresholds`);
  const state = useQuery(apiQuery(`${of}.thresholds`, { params: { id } })).data?.data;
  if (!state) return null;
  return (
    <Panel
      title={`Thresholds of ${name}`}
      end={
        mayChange && (
          <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)}>
            Change
          </Button>
        )
      }
    >
      {state.applied.map((one) => (
        <Entry key={one.of} end={<b>{shown(one.of, one.value)}</b>} under={why(one)}>
          {WORDS[one.of]}
        </Entry>
      ))}
      {isOpen && <Own {...{ of, id, name, state }} onClose={() => setOpen(false)} />}
    </Panel>
  );
}

interface OwnProps {
  of: 'devices' | 'interfaces';
  id: string;
  name: string;
  state: ThresholdState;
  onClose: () => void;
}

function Own({ of, id, name, state: { own, applied }, onClose }: OwnProps) {
  const nearest: ThresholdLayer = of === 'devices' ? 'device' : 'interface';
  const form = useForm({
    initialValues: Object.fromEntries(applied.map((one) => [one.of, String(own[one.of] ?? '')])),
  });
  const send = useSend();
  const save = async () => {
    const body = Object.fromEntries(
      Object.entries(form.values).flatMap(([key, text]) => (text.trim() === '' ? [] : [[key, Number(text)]])),
    );
    const params = { id };
    if (Object.keys(body).length === 0) await send(`${of}.clearThresholds`, { params });
    else await send(`${of}.setThresholds`, { params, body });
  };
  return (
    <FormDialog form={form} title={`Thresholds of ${name}`} onClose={onClose} onSubmit={save}>
      <p className="quiet">
        A measurement above its threshold raises an event; so does an interface that usually carries at least
        so many packets and carries none. 0: never. Empty: the value shown applies.
      </p>
      {applied.map((one) => {
        const without = one.said.findLast(({ from }) => from !== nearest);
        return (
          <TextInput
            key={one.of}
            label={`${WORDS[one.of]}, ${UNIT[one.of]}`}
            description={without && fromOf(without)}
            placeholder={without && String(without.value)}
            type="number"
            {...form.getInputProps(one.of)}
          />
        );
      })}
    </FormDialog>
  );
}

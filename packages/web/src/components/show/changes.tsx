import { Table } from '@mantine/core';
import { usePreferences } from '../../preferences.ts';
import { differences, memberText, readings } from './differences.ts';

/** The value of a member as people read it. */
export function Value({ name, value }: { name: string; value: unknown }) {
  const { zone } = usePreferences();
  return memberText(name, value, zone);
}

/** Both sides of a change, member by member; of what has no other side, the values. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const { zone } = usePreferences();
  const values = readings(before, after, zone);
  if (values) return <Values values={values} />;
  const changes = differences(before, after, zone);
  if (changes.length === 0) return null;
  return (
    <Table fz="xs" horizontalSpacing={12} verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Changed</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(([name, was, is]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            <Table.Td c="dimmed">{was}</Table.Td>
            <Table.Td>{is}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const Values = ({ values }: { values: readonly [name: string, is: string][] }) =>
  values.length > 0 && (
    <Table fz="xs" horizontalSpacing={12} verticalSpacing={4}>
      <Table.Tbody>
        {values.map(([name, is]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            <Table.Td>{is}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );

/** The same on one line: `OS version 17.6.5 → 17.9.4a`. */
export function ChangedLine({ before, after }: { before: unknown; after: unknown }) {
  const { zone } = usePreferences();
  if (before === null || before === undefined) return null;
  return (
    <span className="quiet">
      {differences(before, after, zone)
        .slice(0, 3)
        .map(([name, was, is], i) => (
          <span key={name}>
            {i > 0 && ', '}
            {name} {was} → <b>{is}</b>
          </span>
        ))}
    </span>
  );
}

/** What is found has often no name yet, and is read a moment later: said with the name that it has now. */
export function newDeviceText(device: string | null | undefined, message: string): string {
  const end = message.indexOf(' is new');
  return device && end > 0 ? device + message.slice(end) : message;
}

/** What happened, with the name that a new device has by now. */
export const eventText = (event: { kind: string; device: string | null; message: string }): string =>
  event.kind === 'device.new' ? newDeviceText(event.device, event.message) : event.message;

/** One change in words; with both sides where the words only name the fields. */
export function ChangeText({
  change,
}: {
  change: {
    kind: string;
    message: string;
    device?: string | null;
    before: unknown;
    after: unknown;
  };
}) {
  if (change.kind === 'device.new') return eventText({ device: null, ...change });
  const named = change.kind === 'device.changed' || change.kind === 'interface.changed';
  return (
    <>
      {change.message} {named && <ChangedLine before={change.before} after={change.after} />}
    </>
  );
}

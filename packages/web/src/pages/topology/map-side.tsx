import { Button } from '@mantine/core';
import type { Topology } from '@rollcall/shared/api/interfaces';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSiteName } from '../../choices.ts';
import { Entry, SidePanel } from '../../components/page/index.ts';
import { DeviceClassLabel, DeviceStatus, Fact, Facts, Severity } from '../../components/show/index.ts';
import { bitrate, plural } from '../../format.ts';
import { devicesBehind } from './graph.ts';
import { type LoadOf, loadText } from './link-load.ts';

/** The device that was clicked on the map, and where its links lead. */
export function MapSide({
  topology,
  loadOf,
  id,
  onClose,
}: {
  topology: Topology;
  loadOf: LoadOf;
  id: string;
  onClose: () => void;
}) {
  const siteName = useSiteName();
  const names = new Map(topology.nodes.map((node) => [node.id, node]));
  const node = names.get(id);
  const links = topology.links.flatMap((link) => {
    if (link.a.deviceId === id) return [{ link, here: link.a, there: link.b }];
    return link.b.deviceId === id ? [{ link, here: link.b, there: link.a }] : [];
  });
  const behind = useMemo(() => devicesBehind(topology.nodes, topology.links, id).length, [topology, id]);
  if (!node) return null;
  const unknown = topology.strangers.filter(({ from }) => from.deviceId === id);
  return (
    <SidePanel
      title={node.name}
      onClose={onClose}
      actions={
        <Button renderRoot={(props) => <Link to="/devices/$id" params={{ id }} {...props} />}>
          Open the device
        </Button>
      }
    >
      <Facts>
        <Fact name="Status">
          <DeviceStatus status={node.status} />
        </Fact>
        <Fact name="Class">
          <DeviceClassLabel class={node.class} />
        </Fact>
        <Fact name="Address">
          <span className="mono">{node.address}</span>
        </Fact>
        <Fact name="Site">{siteName(node.siteId)}</Fact>
        <Fact name="Worst event">{node.worstSeverity && <Severity code={node.worstSeverity} />}</Fact>
        <Fact name="Behind it">
          {behind > 0 && `${plural(behind, 'device')}, reachable through it alone`}
        </Fact>
        <Fact name="Monitored">{node.monitor === 1 ? 'yes' : 'no'}</Fact>
      </Facts>
      {links.map(({ link, here, there }) => (
        <Entry
          key={`${here.port} ${there.deviceId} ${there.port}`}
          end={
            <>
              {loadOf(link) !== undefined && <span>{loadText(loadOf(link) ?? 0)}</span>}
              {link.speedBps !== null && <span className="quiet">{bitrate(link.speedBps)}</span>}
              <DeviceStatus status={link.status} short />
            </>
          }
        >
          <span className="quiet">{here.port} to </span>
          <Link
            to="."
            search={(old) => ({ ...old, device: there.deviceId }) as never}
            replace
            className="plain"
            activeProps={{}}
          >
            {names.get(there.deviceId)?.name ?? 'a device elsewhere'}
          </Link>{' '}
          <span className="quiet">{there.port}</span>
        </Entry>
      ))}
      {unknown.map((far) => (
        <Entry key={`${far.name} ${far.port} ${far.protocol}`}>
          <span className="quiet">{far.from.port} to </span>
          {far.name} <span className="quiet">{far.port}, not in the inventory</span>
        </Entry>
      ))}
    </SidePanel>
  );
}

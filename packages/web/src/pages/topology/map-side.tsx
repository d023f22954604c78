import { Button } from '@mantine/core';
import type { Topology } from '@rollcall/shared/api/interfaces';
import { Link } from '@tanstack/react-router';
import { SidePanel } from '../../components/page/index.ts';
import { DeviceClassLabel, DeviceStatus, Facts, Severity } from '../../components/show/index.ts';
import { bitrate } from '../../format.ts';
import { useSiteName } from '../../sites.ts';
import classes from './topology.module.css';

/** The device that was clicked on the map, and where its links lead. */
export function MapSide({
  topology,
  id,
  onPick,
  onClose,
}: {
  topology: Topology;
  id: string;
  onPick: (id: string) => void;
  onClose: () => void;
}) {
  const siteName = useSiteName();
  const names = new Map(topology.nodes.map((node) => [node.id, node]));
  const node = names.get(id);
  if (!node) return null;
  const links = topology.links.flatMap((link) => {
    if (link.a.deviceId === id) return [{ link, here: link.a, there: link.b }];
    return link.b.deviceId === id ? [{ link, here: link.b, there: link.a }] : [];
  });
  const strangers = topology.strangers.filter((stranger) => stranger.from.deviceId === id);
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
      <Facts
        facts={[
          ['Status', <DeviceStatus key="status" status={node.status} />],
          ['Class', <DeviceClassLabel key="class" class={node.class} />],
          [
            'Address',
            <span key="address" className="mono">
              {node.address}
            </span>,
          ],
          ['Site', siteName(node.siteId)],
          ['Worst event', node.worstSeverity && <Severity code={node.worstSeverity} />],
          ['Watched', node.monitor === 1 ? 'yes' : 'no'],
        ]}
      />
      {links.map(({ link, here, there }) => (
        <div key={`${here.port} ${there.deviceId} ${there.port}`} className={classes.far}>
          <span className="cut">
            <span className="quiet">{here.port} to </span>
            <a
              href={`?device=${there.deviceId}`}
              className="plain"
              onClick={(event) => {
                event.preventDefault();
                onPick(there.deviceId);
              }}
            >
              {names.get(there.deviceId)?.name ?? 'a device elsewhere'}
            </a>{' '}
            <span className="quiet">{there.port}</span>
          </span>
          {link.speedBps !== null && <span className="quiet">{bitrate(link.speedBps)}</span>}
          <DeviceStatus status={link.status} short />
        </div>
      ))}
      {strangers.map((stranger) => (
        <div key={`${stranger.name} ${stranger.port} ${stranger.protocol}`} className={classes.far}>
          <span className="cut">
            <span className="quiet">{stranger.from.port} to </span>
            {stranger.name} <span className="quiet">{stranger.port}, not in the inventory</span>
          </span>
        </div>
      ))}
    </SidePanel>
  );
}

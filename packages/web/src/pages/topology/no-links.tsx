import { Button } from '@mantine/core';
import { IconRadar2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Empty } from '../../components/feedback/index.ts';
import { useMay } from '../../session.tsx';

/** Why there are devices and no links between them, and how to get some. */
export function NoLinks() {
  const may = useMay('scans.create');
  return (
    <Empty
      title="No links are known yet"
      action={
        may && (
          <Button
            variant="default"
            leftSection={<IconRadar2 size={14} aria-hidden />}
            renderRoot={(props) => <Link to="/discovery" search={{ new: '1', profile: 'deep' }} {...props} />}
          >
            Scan with the profile “deep”
          </Button>
        )
      }
    >
      Switches and routers list their neighbours by LLDP, CDP and forwarding tables. The profile “deep” reads
      them.
    </Empty>
  );
}

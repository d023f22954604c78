import type { Family } from '@rollcall/shared/ip';
import type { EngineName } from '../platform/engines.ts';
import type { Refusal } from './echo.ts';

const EXPLAINED: Record<string, { reason: string; remedy: string }> = {
  'datagram EACCES': {
    reason: 'no group of this process is within net.ipv4.ping_group_range',
    remedy: 'sysctl -w net.ipv4.ping_group_range="0 2147483647" (or the collector\'s group id twice)',
  },
  'raw EPERM': {
    reason: 'raw sockets need CAP_NET_RAW',
    remedy:
      'AmbientCapabilities=CAP_NET_RAW in the systemd unit, or setcap cap_net_raw+ep on the node executable',
  },
  'ping ENOENT': {
    reason: 'no ping program on the search path',
    remedy: 'install one (Debian: iputils-ping), or allow one of the socket engines',
  },
};

/** Puts an error name into words an administrator can act on. */
export const refusalOf = (engine: EngineName, family: Family, code: string, detail?: string): Refusal => {
  const known = EXPLAINED[`${engine} ${code}`];
  if (known) return { engine, family, code, ...known };
  if (code === 'EAFNOSUPPORT' || code === 'EPROTONOSUPPORT') {
    return { engine, family, code, reason: `the kernel has no IPv${family}`, remedy: `enable IPv${family}` };
  }
  return {
    engine,
    family,
    code,
    reason: detail ?? `the system answered ${code}`,
    remedy: 'see the system log',
  };
};

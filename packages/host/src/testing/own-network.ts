import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { skipped } from '@rollcall/shared/testing/skipped';
import koffi from 'koffi';

const CLONE_NEWNET = 0x4000_0000;

/**
 * Moves this test process into a network of its own, with a loopback interface and nothing else, so that a test may
 * send what it likes and set kernel switches. False (and a loud line) where the host does not let us: tests skip then.
 */
export const enterOwnNetwork = (): boolean => {
  const path = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const unshare = koffi.load(null).func('int unshare(int)');
  if (
    process.platform !== 'linux' ||
    spawnSync('ip', ['-V'], { env: path }).status !== 0 ||
    unshare(CLONE_NEWNET) !== 0
  ) {
    skipped('tests in a network of their own: be root on Linux, with iproute2');
    return false;
  }
  execFileSync('ip', ['link', 'set', 'lo', 'up'], { env: path });
  return true;
};

/** Sets a switch under /proc/sys/net of the present network. */
export const setNet = (name: string, value: string): void => writeFileSync(`/proc/sys/net/${name}`, value);

/** Lets every group open ICMP datagram sockets, or none. */
export const allowDatagramIcmp = (allowed: boolean): void =>
  setNet('ipv4/ping_group_range', allowed ? '0 2147483647' : '1 0');

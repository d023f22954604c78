import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { skipped } from '@rollcall/shared/testing/skipped';
import koffi from 'koffi';
import { afterAll, beforeAll } from 'vitest';

const CLONE_NEWNET = 0x4000_0000;
const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/**
 * Has the tests of the file that calls it run in a network of their own, with a loopback interface and nothing else, so
 * that they may send what they like and set kernel switches. False (and a loud line) where the host does not let us:
 * tests skip then. Other files may run in the same process: it goes back to its network at the end.
 */
export const enterOwnNetwork = (): boolean => {
  if (spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { env }).status !== 0) {
    skipped('tests in a network of their own: be root on Linux, with iproute2');
    return false;
  }
  const libc = koffi.load(null);
  const unshare = libc.func('int unshare(int)');
  const setns = libc.func('int setns(int, int)');
  let outside: number;
  beforeAll(() => {
    outside = openSync('/proc/thread-self/ns/net', 'r');
    if (unshare(CLONE_NEWNET) !== 0) throw new Error('cannot enter a network of its own');
    execFileSync('ip', ['link', 'set', 'lo', 'up'], { env });
  });
  afterAll(() => {
    if (setns(outside, CLONE_NEWNET) !== 0) throw new Error('cannot go back to the network outside');
    closeSync(outside);
  });
  return true;
};

/** Sets a switch under /proc/sys/net of the present network. */
export const setNet = (name: string, value: string): void => writeFileSync(`/proc/sys/net/${name}`, value);

/** Lets every group open ICMP datagram sockets, or none. */
export const allowDatagramIcmp = (allowed: boolean): void =>
  setNet('ipv4/ping_group_range', allowed ? '0 2147483647' : '1 0');

/**
 * A site at the other end of a bad line, made of functions: a tun device of the present network whose packets this
 * process answers itself, ICMP echo and SNMP, as late as told and with as many of them lost as told.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import koffi from 'koffi';

const TUNSETIFF = 0x4004_54ca;
const IFF_TUN = 1;
const IFF_NO_PI = 0x1000;
const POLL_MS = 1;
const ICMP = 1;
const UDP = 17;
const ECHO_REQUEST = 8;
const SNMP_PORT = 161;
const IP_HEADER = 20;
const UDP_HEADER = 8;

export interface FarSite {
  /** Who answers ICMP. */
  alive: (address: string) => boolean;
  /** What the agent at an address answers; null when there is none or it is silent. */
  agent: (address: string, request: Buffer) => Buffer | null;
  /** From a request to its answer, milliseconds. */
  delayMs: number;
  /** Part of the answers that are lost, 0–1. */
  loss: number;
}

/** Brings up device `name` as the way to `network`; requests counted. Needs a network of our own and /dev/net/tun. */
export function openFarSite(name: string, network: string, site: FarSite) {
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  const request = Buffer.alloc(40);
  request.write(name, 'latin1');
  request.writeUInt16LE(IFF_TUN | IFF_NO_PI, 16);
  const ioctl = koffi.load(null).func('int ioctl(int, unsigned long, void *)');
  if (ioctl(fd, TUNSETIFF, request) !== 0) throw new Error('cannot make a tun device');
  ip('addr', 'add', '192.0.2.1/32', 'dev', name);
  ip('link', 'set', name, 'mtu', '9000', 'txqueuelen', '10000', 'up');
  ip('route', 'add', network, 'dev', name);
  let requests = 0;
  const timers = new Set<NodeJS.Timeout>();
  const packet = Buffer.alloc(9000);
  const poll = setInterval(() => {
    for (let length = readNow(fd, packet); length > 0; length = readNow(fd, packet)) {
      const answer = answerTo(packet.subarray(0, length), site);
      if (!answer) continue;
      requests += 1;
      if (Math.random() < site.loss) continue;
      const timer = setTimeout(() => {
        timers.delete(timer);
        writeSync(fd, answer);
      }, site.delayMs);
      timers.add(timer);
    }
  }, POLL_MS);
  return {
    requests: () => requests,
    close: () => {
      clearInterval(poll);
      for (const timer of timers) clearTimeout(timer);
      closeSync(fd);
    },
  };
}

export const ip = (...args: string[]): void => {
  execFileSync('ip', args, { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` } });
};

function readNow(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

/** The answer to an IPv4 packet without options, as a packet; null for silence. */
function answerTo(packet: Buffer, site: FarSite): Buffer | null {
  if (packet[0] !== 0x45) return null;
  const address = packet.subarray(16, 20).join('.');
  const body = packet.subarray(IP_HEADER);
  if (packet[9] === ICMP && body[0] === ECHO_REQUEST) {
    if (!site.alive(address)) return null;
    const reply = Buffer.from(body);
    reply[0] = 0;
    reply.writeUInt16BE(0, 2);
    reply.writeUInt16BE(checksum(reply), 2);
    return back(packet, ICMP, reply);
  }
  if (packet[9] !== UDP || body.readUInt16BE(2) !== SNMP_PORT) return null;
  const said = site.agent(address, body.subarray(UDP_HEADER));
  if (!said) return null;
  const header = Buffer.alloc(UDP_HEADER); // A checksum of 0 is none, in IPv4.
  header.writeUInt16BE(SNMP_PORT, 0);
  header.writeUInt16BE(body.readUInt16BE(0), 2);
  header.writeUInt16BE(UDP_HEADER + said.length, 4);
  return back(packet, UDP, Buffer.concat([header, said]));
}

/** A packet from where `packet` went to where it came from. */
function back(packet: Buffer, protocol: number, body: Buffer): Buffer {
  const header = Buffer.alloc(IP_HEADER);
  header[0] = 0x45;
  header.writeUInt16BE(IP_HEADER + body.length, 2);
  header[8] = 64;
  header[9] = protocol;
  packet.copy(header, 12, 16, 20);
  packet.copy(header, 16, 12, 16);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, body]);
}

function checksum(octets: Buffer): number {
  let sum = 0;
  for (let i = 0; i + 1 < octets.length; i += 2) sum += octets.readUInt16BE(i);
  if (octets.length % 2 === 1) sum += (octets.at(-1) ?? 0) << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** A name server on loopback that knows pointers (RFC 1035), over UDP. */
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const HEADER = 12;
const PTR = 12;
const NXDOMAIN = 3;
const SERVFAIL = 2;

/** What it says of a name: its pointers, that it has none, that it cannot say, or nothing. */
export type Said = readonly string[] | 'none' | 'fails' | 'silent';

export interface NameServer {
  /** `address:port`. */
  server: string;
  /** What it was asked, in order: `7.0.0.10.in-addr.arpa`. */
  asked: string[];
  close(): Promise<void>;
}

/** `delayMs`: how long the answer takes. */
export function nameServer(
  say: (name: string) => Said,
  delayMs: (name: string) => number = () => 0,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let open = true;
  socket.on('message', (message, from) => {
    const { name, end } = questionOf(message);
    asked.push(name);
    const said = say(name);
    if (said === 'silent') return;
    setTimeout(() => {
      if (open) socket.send(answerTo(message.subarray(0, end), said), from.port, from.address);
    }, delayMs(name));
  });
  return new Promise((resolve) =>
    socket.bind(0, '127.0.0.1', () =>
      resolve({
        server: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
        asked,
        close: () => {
          open = false;
          return new Promise((done) => socket.close(() => done()));
        },
      }),
    ),
  );
}

function questionOf(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 5 };
}

function answerTo(question: Buffer, said: Exclude<Said, 'silent'>): Buffer {
  const head = Buffer.from(question);
  const names = typeof said === 'string' ? [] : said;
  head[2] = 0x81;
  head[3] = 0x80 | (said === 'none' ? NXDOMAIN : said === 'fails' ? SERVFAIL : 0);
  head.writeUInt16BE(names.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...names.map(pointerTo)]);
}

function pointerTo(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  const data = Buffer.concat([...labels, Buffer.from([0])]);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER, 0);
  head.writeUInt16BE(PTR, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

import { type Libc, SYS } from '@rollcall/host/libc';
import type { Family } from '@rollcall/shared/ip';

// Classic BPF (linux/filter.h): class | size | mode.
const LOAD_BYTE_AT_X = 0x50; // BPF_LD | BPF_B | BPF_IND
const LOAD_HALF_AT_X = 0x48; // BPF_LD | BPF_H | BPF_IND
const HEADER_LENGTH_TO_X = 0xb1; // BPF_LDX | BPF_B | BPF_MSH: 4 × low nibble, the IPv4 header length
const NUMBER_TO_X = 0x01; // BPF_LDX | BPF_IMM
const JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const RETURN = 0x06;

/** `yes` and `no` are the instructions to go on with, the next one when absent. */
interface Instruction {
  code: number;
  value: number;
  yes?: number;
  no?: number;
}

/**
 * Lets through echo replies with our identifier and ICMP errors that quote it. A raw socket otherwise gets a copy of
 * every ICMP packet of the host, a flood included.
 */
const program = (family: Family, id: number): Instruction[] => {
  const reply = family === 4 ? 0 : 129;
  const errors = family === 4 ? [3, 11, 12] : [1, 2, 3, 4];
  /** ICMP header, quoted IP header (ours never has options), then type, code, checksum of the quoted request. */
  const quotedId = 8 + (family === 4 ? 20 : 40) + 4;
  const atReply = 3 + errors.length;
  const atError = atReply + 2;
  const atAccept = atError + 2;
  const atDrop = atAccept + 1;
  return [
    // A raw IPv4 socket sees the IP header, a raw IPv6 socket does not.
    family === 4 ? { code: HEADER_LENGTH_TO_X, value: 0 } : { code: NUMBER_TO_X, value: 0 },
    { code: LOAD_BYTE_AT_X, value: 0 },
    { code: JUMP_EQUAL, value: reply, yes: atReply },
    ...errors.map((value, i) => ({
      code: JUMP_EQUAL,
      value,
      yes: atError,
      ...(i === errors.length - 1 && { no: atDrop }),
    })),
    { code: LOAD_HALF_AT_X, value: 4 },
    { code: JUMP_EQUAL, value: id, yes: atAccept, no: atDrop },
    { code: LOAD_HALF_AT_X, value: quotedId },
    { code: JUMP_EQUAL, value: id, yes: atAccept, no: atDrop },
    { code: RETURN, value: 0xffff },
    { code: RETURN, value: 0 },
  ];
};

/** Attaches the filter; false on error. */
export const attachFilter = (libc: Libc, fd: number, family: Family, id: number): boolean => {
  const instructions = program(family, id);
  const code = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [i, instruction] of instructions.entries()) {
    const distance = (target = i + 1) => target - i - 1;
    code.setUint16(i * 8, instruction.code, true);
    code.setUint8(i * 8 + 2, distance(instruction.yes));
    code.setUint8(i * 8 + 3, distance(instruction.no));
    code.setUint32(i * 8 + 4, instruction.value, true);
  }
  const header = new DataView(new ArrayBuffer(16));
  header.setUint16(0, instructions.length, true);
  header.setBigUint64(8, libc.addressOf(code.buffer), true);
  return libc.setsockopt(fd, SYS.SOL_SOCKET, SYS.SO_ATTACH_FILTER, new Uint8Array(header.buffer), 16) === 0;
};

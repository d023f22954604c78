import { type Libc, SYS } from '@rollcall/host/libc';
import type { Family } from '@rollcall/shared/ip';

// Classic BPF (linux/filter.h): class | size | mode.
const LOAD_BYTE_AT_X = 0x50; // BPF_LD | BPF_B | BPF_IND
const LOAD_HALF_AT_X = 0x48; // BPF_LD | BPF_H | BPF_IND
const HEADER_LENGTH_TO_X = 0xb1; // BPF_LDX | BPF_B | BPF_MSH: 4 × low nibble, the IPv4 header length
const NUMBER_TO_X = 0x01; // BPF_LDX | BPF_IMM
const JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const RETURN = 0x06;

/** `no`: the instruction to go on with where a comparison fails. */
interface Instruction {
  code: number;
  value: number;
  no?: number;
}

/** Position of the last instruction. */
const DROP = 6;

/**
 * Lets through echo replies with our identifier. A raw socket otherwise gets a copy of every ICMP packet of the host, a
 * flood included.
 */
const program = (family: Family, id: number): Instruction[] => [
  // A raw IPv4 socket sees the IP header, a raw IPv6 socket does not.
  family === 4 ? { code: HEADER_LENGTH_TO_X, value: 0 } : { code: NUMBER_TO_X, value: 0 },
  { code: LOAD_BYTE_AT_X, value: 0 },
  { code: JUMP_EQUAL, value: family === 4 ? 0 : 129, no: DROP },
  { code: LOAD_HALF_AT_X, value: 4 },
  { code: JUMP_EQUAL, value: id, no: DROP },
  { code: RETURN, value: 0xffff },
  { code: RETURN, value: 0 },
];
/** Attaches the filter; false on error. */
export const attachFilter = (libc: Libc, fd: number, family: Family, id: number): boolean => {
  const instructions = program(family, id);
  const code = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [i, instruction] of instructions.entries()) {
    code.setUint16(i * 8, instruction.code, true);
    if (instruction.no !== undefined) code.setUint8(i * 8 + 3, instruction.no - i - 1);
    code.setUint32(i * 8 + 4, instruction.value, true);
  }
  const header = new DataView(new ArrayBuffer(16));
  header.setUint16(0, instructions.length, true);
  header.setBigUint64(8, libc.addressOf(code.buffer), true);
  return libc.setsockopt(fd, SYS.SOL_SOCKET, SYS.SO_ATTACH_FILTER, new Uint8Array(header.buffer), 16) === 0;
};

/** Random bytes in stock: asking the system for sixteen at a time costs more than everything else here. */
const stock = new Uint8Array(4096);
let used = stock.length;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random; sortable by time. */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > stock.length) {
    crypto.getRandomValues(stock);
    used = 0;
  }
  const at = used;
  used += 10;
  const random = (i: number): number => stock[at + i] ?? 0;
  const hex = (byte: number): string => HEX[byte] ?? '';
  const time = Math.trunc(now).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-${hex(0x70 | (random(0) & 0x0f))}${hex(random(1))}-${hex(0x80 | (random(2) & 0x3f))}${hex(random(3))}-${hex(random(4))}${hex(random(5))}${hex(random(6))}${hex(random(7))}${hex(random(8))}${hex(random(9))}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether a text is a UUID of any version; ask before it goes into a query. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** Random bytes in stock: asking the system for sixteen at a time costs more than everything else here. */
const stock = new Uint8Array(4096);
let used = stock.length;

const DIGITS = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Where groups of a UUID end. */
const HYPHENS = new Set([8, 13, 18, 23]);
const PLACES = Array.from({ length: 36 }, (_, i) => i).filter((i) => !HYPHENS.has(i));
/** The characters of the next one: put together from pieces, it would be a dozen strings first. */
const codes: number[] = Array.from({ length: 36 }, () => 45);

const VERSION = 7;
const VARIANT = 8;

/** UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random; sortable by time. */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > stock.length) {
    crypto.getRandomValues(stock);
    used = 0;
  }
  const put = (place: number, digit: number): void => {
    codes[PLACES[place] ?? 0] = DIGITS[digit] ?? 0;
  };
  let time = Math.trunc(now);
  for (let place = 11; place >= 0; place--) {
    const rest = Math.floor(time / 16);
    put(place, time - 16 * rest);
    time = rest;
  }
  for (let place = 12; place < 32; place += 2) {
    const byte = stock[used++] ?? 0;
    put(place, place === 12 ? VERSION : place === 16 ? VARIANT | ((byte >> 4) & 3) : byte >> 4);
    put(place + 1, byte & 15);
  }
  return String.fromCharCode(...codes);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether a text is a UUID of any version; ask before it goes into a query. */
export const isUuid = (text: string): boolean => UUID.test(text);

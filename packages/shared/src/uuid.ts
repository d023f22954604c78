const bytes = new Uint8Array(16);

/** UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random; sortable by time. */
export function uuidv7(now: number = Date.now()): string {
  crypto.getRandomValues(bytes);
  for (let i = 5, ms = now; i >= 0; i--) {
    bytes[i] = ms % 256;
    ms = Math.floor(ms / 256);
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether a text is a UUID of any version; ask before it goes into a query. */
export const isUuid = (text: string): boolean => UUID.test(text);

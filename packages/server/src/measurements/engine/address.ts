/** Where an engine is asked: an address whose user and password go into a header, which `fetch` asks for. */
export interface Address {
  url: string;
  headers: Record<string, string>;
  /** Without secrets, for people. */
  shown: string;
}

export function addressOf(text: string): Address {
  const url = new URL(text);
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  url.username = '';
  url.password = '';
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return {
    url: url.href.replace(/\/+$/, ''),
    headers: user || password ? { Authorization: `Basic ${basic}` } : {},
    shown: url.origin,
  };
}

/** Why a request did not come to an answer, in a few words. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

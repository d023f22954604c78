/** One HTTP request to the server, before there is a link. */
import type { IncomingHttpHeaders } from 'node:http';
import { trust } from './server-address.ts';

const ANSWER_BYTES = 64 * 1024;

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends JSON, or reads where there is none. `ca` is the certificate (PEM) that vouches for the server. */
export async function request(
  address: string,
  { ca, timeoutMs, body }: { ca: string | undefined; timeoutMs: number; body?: object },
): Promise<HttpAnswer> {
  const { request: start } = address.startsWith('https:')
    ? await import('node:https')
    : await import('node:http');
  const content = body && JSON.stringify(body);
  const options = {
    method: content === undefined ? 'GET' : 'POST',
    headers:
      content === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) },
    timeout: timeoutMs,
    ...trust(ca),
  };
  return new Promise((resolve, reject) => {
    const call = start(address, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > ANSWER_BYTES) call.destroy(new Error('the answer is too long'));
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on('error', reject);
    });
    call.on('timeout', () => call.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    call.on('error', reject);
    call.end(content);
  });
}

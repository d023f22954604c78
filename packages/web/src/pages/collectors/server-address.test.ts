import { describe, expect, it } from 'vitest';
import { isLoopback, withServer } from './server-address.ts';

describe('the address of the server in the line for a host', () => {
  it.each([
    ['http://127.0.0.1:8080', true],
    ['http://localhost:8080', true],
    ['http://[::1]', true],
    ['https://rollcall.example.net', false],
    ['https://10.127.0.1', false],
    ['rollcall', false],
  ])('%s is loopback: %s', (address, loopback) => {
    expect(isLoopback(address)).toBe(loopback);
  });

  it('is put wherever the line names the server', () => {
    const line =
      "curl -fsSk --pinnedpubkey 'sha256//x' https://a:1/api/collectors/install.sh | sh -s -- https://a:1 T";
    expect(withServer(line, 'https://b')).toBe(
      "curl -fsSk --pinnedpubkey 'sha256//x' https://b/api/collectors/install.sh | sh -s -- https://b T",
    );
    expect(withServer('podman run x run --join https://a:1 --token T', 'https://b')).toBe(
      'podman run x run --join https://b --token T',
    );
  });
});

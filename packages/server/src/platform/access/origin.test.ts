import { describe, expect, it } from 'vitest';
import { forgery } from './origin.ts';

const host = 'noc.example:8080';

describe('forgery', () => {
  it.each([
    ['same origin by Fetch Metadata', { secFetchSite: 'same-origin', origin: undefined, host }],
    ['same origin by Origin', { secFetchSite: undefined, origin: 'http://noc.example:8080', host }],
    ['behind a proxy that ends TLS', { secFetchSite: undefined, origin: 'https://noc.example:8080', host }],
    [
      'host in capitals',
      { secFetchSite: undefined, origin: 'http://noc.example:8080', host: 'NOC.example:8080' },
    ],
  ])('passes %s', (_name, request) => expect(forgery(request)).toBeNull());

  it.each([
    ['cross-site', { secFetchSite: 'cross-site', origin: 'http://noc.example:8080', host }],
    ['same-site', { secFetchSite: 'same-site', origin: undefined, host }],
    ['a navigation', { secFetchSite: 'none', origin: undefined, host }],
    ['neither header', { secFetchSite: undefined, origin: undefined, host }],
    ['Origin null', { secFetchSite: undefined, origin: 'null', host }],
    ['another scheme', { secFetchSite: undefined, origin: `httpx://${host}`, host }],
    ['another host', { secFetchSite: undefined, origin: 'http://evil.example', host }],
    ['another port', { secFetchSite: undefined, origin: 'http://noc.example:81', host }],
    [
      'our host as a prefix',
      { secFetchSite: undefined, origin: 'http://noc.example:8080.evil.example', host },
    ],
    ['no host', { secFetchSite: undefined, origin: 'http://noc.example', host: undefined }],
  ])('G122 CVE-2023-0870 refuses %s', (_name, request) => expect(forgery(request)).toMatch(/site|where/));
});

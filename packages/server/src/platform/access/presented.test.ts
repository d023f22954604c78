import { describe, expect, it } from 'vitest';
import { type Credentials, readCredentials, sessionCookie } from './presented.ts';
import { mintSessionId, mintToken } from './token.ts';

const token = mintToken().plaintext;
const sessionId = mintSessionId();
const bearer = ['Authorization', `Bearer ${token}`];
const cookie = ['Cookie', `theme=dark; rollcall=${sessionId}`];

const kindOf = (rawHeaders: string[], search = '', secure = false): Credentials['kind'] =>
  readCredentials({ rawHeaders, search, secure }).kind;

describe('readCredentials', () => {
  it('reads a token and a session', () => {
    expect(readCredentials({ rawHeaders: bearer, search: '', secure: true })).toEqual({
      kind: 'token',
      token,
    });
    expect(readCredentials({ rawHeaders: cookie, search: '', secure: false })).toEqual({
      kind: 'session',
      sessionId,
    });
    expect(kindOf(['authorization', `bearer  ${token}`])).toBe('token');
    expect(kindOf(['Cookie', `__Host-rollcall=${sessionId}`], '', true)).toBe('session');
    expect(kindOf([...bearer, ...cookie])).toBe('token');
    expect(kindOf([...cookie, ...cookie, ...bearer])).toBe('token');
  });

  it.each<[string, string[], string?]>([
    ['G120 a token with a wrong checksum', ['Authorization', `Bearer ${token.slice(0, -1)}-`]],
    ['another scheme', ['Authorization', 'Basic YTpi']],
    ['a scheme alone', ['Authorization', 'Bearer']],
    ['a token without a scheme', ['Authorization', token]],
    ['two tokens in one header', ['Authorization', `Bearer ${token}, Bearer ${token}`]],
    ['two Authorization headers', [...bearer, ...bearer]],
    ['G118 a token in the query', bearer, `access_token=${token}`],
    ['G118 a token hidden in the query', bearer, `x=%73vc_${token.slice(4)}`],
    ['G118 a token hidden behind broken encoding', bearer, `y=%E0%A4%A&x=%73vc_${token.slice(4)}`],
    ['a wrong token, whatever session comes along', ['Authorization', 'Bearer svc_x', ...cookie]],
    ['two sessions', [...cookie, ...['Cookie', `rollcall=${mintSessionId()}`]]],
    ['a session id of another form', ['Cookie', 'rollcall=admin']],
  ])('refuses %s', (_name, rawHeaders, search = '') => {
    expect(kindOf(rawHeaders, search)).toBe('refused');
  });

  it('sees nothing where there is nothing for it', () => {
    expect(kindOf([])).toBe('none');
    expect(kindOf(['Cookie', 'other=1'])).toBe('none');
    expect(kindOf(cookie, '', true)).toBe('none');
    expect(kindOf(['Cookie', 'rollcall='])).toBe('none');
  });
});

describe('sessionCookie', () => {
  it('is bound to the host under TLS, and ends with no value', () => {
    expect(sessionCookie(true, { id: 'x', maxAgeSeconds: 60 })).toBe(
      '__Host-rollcall=x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
    );
    expect(sessionCookie(false, null)).toBe('rollcall=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
  });
});

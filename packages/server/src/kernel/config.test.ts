import { describe, expect, it } from 'vitest';
import { readConfig, StartError } from './config.ts';

describe('readConfig', () => {
  it('has defaults that work on one machine and reach nobody else', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      tls: undefined,
    });
    expect(readConfig({}).dataFolder).toMatch(/\/data$/);
    expect(readConfig({ PORT: '' }).port).toBe(8080);
  });

  it('opens to the network where TLS protects what crosses it', () => {
    const config = readConfig({ ROLLCALL_TLS_CERT: '/c.pem', ROLLCALL_TLS_KEY: '/k.pem' });
    expect([config.host, config.tls]).toEqual(['::', { certFile: '/c.pem', keyFile: '/k.pem' }]);
    expect(readConfig({ HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
  });

  it.each([
    [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535 (it is "70000")'],
    [{ PORT: '80a' }, 'PORT must be a whole number from 0 to 65535 (it is "80a")'],
    [{ HOST: 'localhost' }, 'HOST must be an IPv4 or IPv6 address (it is "localhost")'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent (it is "loud")',
    ],
    [
      { ROLLCALL_TRUSTED_PROXIES: '10.0.0.1, 10.0.0.0/33' },
      'ROLLCALL_TRUSTED_PROXIES must be addresses or CIDRs, separated by commas (it is "10.0.0.1, 10.0.0.0/33")',
    ],
    [{ ROLLCALL_TLS_CERT: '/c.pem' }, 'ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY go together: set both or none'],
    [{ ROLLCALL_DTA: '/x' }, 'there is no setting ROLLCALL_DTA; did you mean ROLLCALL_DATA?'],
  ])('refuses %j', (env, message) => {
    expect(() => readConfig(env)).toThrow(new StartError(message));
  });

  it('G147 tells no password, neither of a good address nor of a bad one', () => {
    const bad = () => readConfig({ DATABASE_URL: 'mysql://root:CANARY@db/x' });
    expect(bad).toThrow('DATABASE_URL must be postgres://user:password@host:port/database');
    expect(bad).not.toThrow(/CANARY/);
    const good = readConfig({ DATABASE_URL: 'postgres://rollcall:CANARY@db/x' });
    expect(JSON.stringify(good)).not.toContain('CANARY');
    expect(good.databaseUrl?.reveal()).toContain('CANARY');
  });

  it('reads lists of proxies', () => {
    expect(readConfig({ ROLLCALL_TRUSTED_PROXIES: '10.0.0.1,  fd00::/8' }).trustedProxies).toEqual([
      '10.0.0.1',
      'fd00::/8',
    ]);
  });
});

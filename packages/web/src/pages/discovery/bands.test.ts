import { describe, expect, it } from 'vitest';
import { bandsOf, dotted, ipv4 } from './bands.ts';

describe('the rows of the address map', () => {
  it.each([
    ['10.20.0.0/24', ['10.20.0.0']],
    ['10.20.0.0/22', ['10.20.0.0', '10.20.1.0', '10.20.2.0', '10.20.3.0']],
    ['10.20.0.200-10.20.1.3', ['10.20.0.0', '10.20.1.0']],
    ['10.20.0.7', ['10.20.0.0']],
    ['10.20.0.64/26', ['10.20.0.0']],
    ['255.255.255.0/24', ['255.255.255.0']],
    ['2001:db8::/120', []],
  ])('%s lies in %j', (cidr, expected) => {
    expect(bandsOf([{ cidr }], cidr).map(dotted)).toEqual(expected);
  });

  it('jobs that share a row share it, and rows come in order', () => {
    const jobs = [{ cidr: '10.0.1.0/25' }, { cidr: '10.0.0.0/24' }, { cidr: '10.0.1.128/25' }];
    expect(bandsOf(jobs, '10.0.0.0/23').map(dotted)).toEqual(['10.0.0.0', '10.0.1.0']);
  });

  it('leaves out what lies between the targets of a job', () => {
    const jobs = [{ cidr: '10.0.0.4-10.0.9.3' }];
    expect(bandsOf(jobs, '10.0.0.4, 10.0.2.250-10.0.3.1, 10.0.9.0/30, !10.0.5.0/24').map(dotted)).toEqual([
      '10.0.0.0',
      '10.0.2.0',
      '10.0.3.0',
      '10.0.9.0',
    ]);
  });

  it.each(['10.0.0', '10.0.0.256', 'a.b.c.d', '', '::1'])('%j is no IPv4 address', (text) => {
    expect(ipv4(text)).toBeNull();
  });
});

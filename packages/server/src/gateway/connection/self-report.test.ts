import { describe, expect, it } from 'vitest';
import { changesBetween, type SelfReport } from './self-report.ts';

const said = (offset: number, behindMs?: number, paused: string | null = null): SelfReport => ({
  offset,
  health: behindMs === undefined ? {} : { outbox: { depth: 7, bytes: 700, oldest: 1 }, behindMs, paused },
});
const turns = (was: SelfReport, is: SelfReport) =>
  changesBetween(was, is).map((turn) => `${turn.kind} ${turn.ok ? 'is well' : 'is off'}`);

describe('what a collector says of itself', () => {
  it.each<[string, SelfReport, SelfReport, string[]]>([
    ['all is as it was', said(0, 0), said(10_000, 20_000), []],
    ['its clock leaves the bound', said(10_000, 0), said(-10_001, 0), ['collector.clock is off']],
    ['its clock stays off', said(10_001, 0), said(-60_000, 0), []],
    ['its clock is between the bounds', said(60_000, 0), said(5_001, 0), []],
    ['its clock is back', said(5_001, 0), said(5_000, 0), ['collector.clock is well']],
    ['it falls behind', said(0, 20_000), said(0, 20_001), ['collector.backlog is off']],
    ['it is behind at its first word', said(0), said(0, 60_000), ['collector.backlog is off']],
    ['it stays behind', said(0, 60_000), said(0, 10_001), []],
    ['it has caught up', said(0, 10_001), said(0, 10_000), ['collector.backlog is well']],
    ['its disk is full', said(0, 0), said(0, 0, 'full'), ['collector.paused is off']],
    ['its disk is full for another reason', said(0, 0, 'full'), said(0, 0, 'fuller'), []],
    ['it has room again', said(0, 0, 'full'), said(0, 0), ['collector.paused is well']],
    ['it said nothing yet', said(60_000, 60_000, 'full'), said(0), ['collector.clock is well']],
  ])('%s', (_, was, is, expected) => {
    expect(turns(was, is)).toEqual(expected);
  });

  it.each<[string, SelfReport, SelfReport, number[]]>([
    ['since it passed the bound', said(0, 9_000), said(0, 29_000), [9_000]],
    [
      'no earlier than the report before, whatever the clock says',
      said(0, 0),
      said(0, 259_200_000),
      [30_000],
    ],
    ['since the report where it came with the connection', said(0), said(0, 600_000), [0]],
    ['as is the end of it', said(0, 30_000), said(0, 0), [0]],
  ])('a backlog is dated %s', (_, was, is, expected) => {
    expect(changesBetween(was, is).map(({ agoMs }) => agoMs)).toEqual(expected);
  });
});

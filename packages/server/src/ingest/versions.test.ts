/** What collectors of other versions report. */
import { observation } from '@rollcall/shared/observation';
import {
  type Json,
  LATEST_RECORDED,
  recorded,
  withLaterMember,
  withLaterWord,
} from '@rollcall/shared/testing/wire-messages';
import { describe, expect, it } from 'vitest';
import { readItem } from './items.ts';

const items = recorded('collector', LATEST_RECORDED).flatMap((message) => (message.items ?? []) as Json[]);
const read = (body: Json) => readItem({ seq: 1, body, digest: 'd' }, { clockOffsetMs: 0 }, Date.UTC(2030, 0));

describe('an observation of the version before', () => {
  it('is read, with an unknown member as without', () => {
    for (const item of items) {
      expect(read(item)).toMatchObject({ observation: item, unknown: [], digest: 'd' });
      for (const { value, path } of withLaterMember(item))
        expect(read(value), path.join('.')).toEqual(read(item));
    }
  });

  it('is read with an unknown word, and again when it comes again; where that says what it is, it is a dead dead', () => {
    for (const item of items)
      for (const { value, path } of withLaterWord(observation, item)) {
        const place = path.join('.');
        const unread = ['kind', 'table', 'stream'].includes(place);
        const { dead, ...rest } = read(value);
        if (unread) expect(dead, place).toMatchObject({ reason: expect.stringContaining(place) });
        else expect(rest, place).toMatchObject({ digest: undefined, unknown: [expect.any(String)] });
      }
  });
});

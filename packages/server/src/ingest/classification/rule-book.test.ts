import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { asked, openSite } from '../testing/site.ts';
import { DESCRIBING } from './classify.ts';
import { openRuleBook } from './rule-book.ts';
import { RuleError } from './rules.ts';

afterAll(closeDatabases);

let folders: string[] = [];
const folder = (files: Record<string, string>): string => {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-rules-'));
  folders.push(path);
  write(path, files);
  return path;
};
const write = (path: string, files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
};
afterEach(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
  folders = [];
});

const rules = (rule: string) => ({ 'a.yaml': `rules:\n  - ${rule}\n` });
const BOX = '1.3.6.1.4.1.99999';

describe.each(databases())('the rule book on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  let path: string;
  const first = rules(`{ name: box, match: { sysObjectId: ${BOX} }, vendor: Box, os: BoxOS, class: switch }`);
  const second = rules(
    `{ name: crate, match: { sysObjectId: ${BOX} }, vendor: Crate, os: CrateOS, class: router }`,
  );
  beforeEach(() => {
    path = folder(first);
  });
  const openBook = () => openRuleBook({ db, log: pino({ level: 'silent' }), folders: [path] });
  async function seen() {
    const site = await openSite(db, { deps: { rules: () => openBook().current() } });
    await site.send([
      asked({ sysName: 'one', sysObjectId: `${BOX}.1.7` }, '10.1.0.1'),
      asked({ sysName: 'two', sysObjectId: `${BOX}.1.8` }, '10.1.0.2'),
    ]);
    return site;
  }
  const described = async (site: Awaited<ReturnType<typeof seen>>) =>
    (await site.devices()).map(({ vendor, os, class: is }) => `${vendor} ${os} ${is}`);

  it('describes what is stored anew when the rules changed, without a scan, and only then', async () => {
    const site = await seen();
    expect(await described(site)).toEqual(['Box BoxOS switch', 'Box BoxOS switch']);
    write(path, second);
    const book = openBook();
    expect(await book.reclassifyAll()).toEqual({ described: 2, changed: 2 });
    expect(await described(site)).toEqual(['Crate CrateOS router', 'Crate CrateOS router']);
    expect(await book.reclassifyAll()).toEqual({ described: 0, changed: 0 });
    const more = '{ name: other, match: { sysObjectId: 1.3.6.1.4.1.99998 }, vendor: Other, class: router }';
    write(path, { 'b.yaml': rules(more)['a.yaml'] });
    expect(await openBook().reclassifyAll()).toEqual({ described: 2, changed: 0 });
    expect(site.changes.filter(({ kind }) => kind !== 'device.new')).toEqual([]);
  });

  it('does so by itself at the start', async () => {
    const site = await seen();
    write(path, second);
    const stop = await openBook().start();
    for (let i = 0; i < 100 && (await described(site))[1] !== 'Crate CrateOS router'; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await stop();
    expect(await described(site)).toEqual(['Crate CrateOS router', 'Crate CrateOS router']);
  });

  it('keeps the class that a person chose', async () => {
    const site = await seen();
    await db.query(
      `UPDATE devices SET class = 'printer', class_override = 'printer' WHERE site_id = $1::uuid AND name = 'one'`,
      [site.siteId],
    );
    write(path, second);
    await openBook().reclassifyAll();
    expect(await described(site)).toEqual(['Crate CrateOS printer', 'Crate CrateOS router']);
  });

  it('keeps its rules when the new ones have an error', async () => {
    const book = openBook();
    const id = book.current().id;
    expect(id).toBe(`${book.ruleset().id}.${DESCRIBING}`);
    write(path, { 'b.yaml': 'rules: [{ name: b }]' });
    expect(() => book.reload()).toThrow(RuleError);
    expect(book.current().id).toBe(id);
    write(path, { 'b.yaml': 'rules: [{ name: b, match: { sysDescr: x } }]' });
    book.reload();
    expect(book.current().id).not.toBe(id);
  });
});

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Migrated {
  differenceTo(schema: string): Promise<string>;
  close(): Promise<void>;
}
interface Script {
  openMigrated(folder?: string): Promise<Migrated>;
  writeMigration(name: string, sql: string, at: { folder: string; now: Date }): string;
}
const script = new URL('../scripts/migration.mjs', import.meta.url).href;
const { openMigrated, writeMigration } = (await import(script)) as Script;
const schema = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');

describe('the migrations and prisma/schema.prisma', () => {
  let migrated: Migrated;
  beforeAll(async () => {
    migrated = await openMigrated();
  });
  afterAll(() => migrated?.close());

  it('do not differ', async () => {
    const difference = await migrated.differenceTo(schema);
    expect(difference, `"npm run migration NAME" writes what the migrations lack:\n${difference}`).toBe('');
  });

  it.each([
    ['a column', '  told ', '  spoken String?\n  told ', 'ALTER TABLE "cases" ADD COLUMN     "spoken" TEXT;'],
    [
      'a default',
      '@default(5)',
      '@default(4)',
      'ALTER TABLE "subscriptions" ALTER COLUMN "severity" SET DEFAULT 4;',
    ],
    [
      'an index',
      '  @@index([createdAt, id], map: "cases_by_created")\n',
      '',
      'DROP INDEX "cases_by_created";',
    ],
  ])('differ by %s', async (_what, before, after, sql) => {
    expect(schema).toContain(before);
    const difference = await migrated.differenceTo(schema.replace(before, after));
    expect(difference.split('\n').filter((line) => line !== '' && !line.startsWith('--'))).toEqual([sql]);
  });
});

describe('a migration that says it is additive', () => {
  const LEAVES_NOTHING =
    /DROP (TABLE|COLUMN|TYPE)|RENAME|SET NOT NULL|ALTER COLUMN "?\w+"? (SET DATA )?TYPE|ADD COLUMN(?![^,;]*DEFAULT)[^,;]*NOT NULL|(?<!ON )(UPDATE|DELETE) /i;
  it('takes nothing away, and demands nothing that servers before it do not write', () => {
    const folder = new URL('../prisma/migrations/', import.meta.url);
    const files = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
    const texts = files.map(
      ({ name }) => [name, readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8')] as const,
    );
    const additive = texts.filter(([, text]) => text.startsWith('-- Additive'));
    expect(
      additive.filter(([, text]) => LEAVES_NOTHING.test(text.replace(/^--.*$/gm, ''))).map(([name]) => name),
    ).toEqual([]);
  });
  it.each([
    'ALTER TABLE "a" ADD COLUMN "b" TEXT NOT NULL;',
    'ALTER TABLE "a" DROP COLUMN "b";',
    'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
  ])('is not %s', (sql) => expect(LEAVES_NOTHING.test(sql)).toBe(true));
  it.each([
    'ALTER TABLE "a" ADD COLUMN "b" TEXT;',
    'ALTER TABLE "a" ADD COLUMN "b" INTEGER NOT NULL DEFAULT 0;',
    'CREATE TABLE "a" ("b" TEXT NOT NULL); DROP INDEX "c";',
  ])('may be %s', (sql) => expect(LEAVES_NOTHING.test(sql)).toBe(false));
});

describe('writeMigration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-migrations-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '20261125000000_first'));

  it('names it by the time in UTC, so that it is applied last', () => {
    const path = writeMigration('racks', 'SELECT 1;', {
      folder,
      now: new Date('2026-11-26T03:04:05.678+01:00'),
    });
    expect(path).toBe(join(folder, '20261126020405_racks', 'migration.sql'));
    expect(readFileSync(path, 'utf8')).toBe('SELECT 1;\n');
  });

  it('refuses a name that would not be the last', () => {
    const before = readdirSync(folder);
    expect(() => writeMigration('early', '', { folder, now: new Date('2026-11-26T02:04:04Z') })).toThrow(
      '20261126020405_racks is newer than 20261126020404_early: check the clock',
    );
    expect(readdirSync(folder)).toEqual(before);
  });
});

import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { backupsMax, listBackups } from './backups.ts'
import { Database } from './database.ts'
import { migrate, migrations } from './migrate.ts'
import { openStore } from './open.ts'
import { applicationId } from './schema.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-open-'))
  path = join(folder, 'home', 'state', 'cao.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)

function faultOf(call: () => unknown): AppError {
  try {
    call()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Makes a good file with one fact, closed. */
function makeStore(): void {
  using store = openStore({ path })
  store.setFact('kept', 'yes')
}

/** Runs SQL on the file as somebody else would. */
function tamper(sql: string, file = path): void {
  const connection = new DatabaseSync(file)
  connection.exec(sql)
  connection.close()
}

function readFact(file: string): string {
  const connection = new DatabaseSync(file, { readOnly: true })
  const value = connection.prepare(`SELECT value FROM facts WHERE key = 'kept'`).get()?.['value']
  connection.close()
  return String(value)
}

test('makes the missing folders for their owner alone, and the file and its companions, too', () => {
  using store = openStore({ path })
  store.setFact('a', 'b')
  expect([modeOf(join(folder, 'home')), modeOf(join(folder, 'home', 'state'))]).toEqual(['700', '700'])
  const files = readdirSync(join(folder, 'home', 'state'))
  expect(files.toSorted()).toEqual(['cao.db', 'cao.db-shm', 'cao.db-wal'])
  expect(files.map((file) => modeOf(join(folder, 'home', 'state', file)))).toEqual(['600', '600', '600'])
})

test('takes the rights of others from a file that has them, and leaves a folder that it did not make alone', () => {
  makeStore()
  chmodSync(path, 0o644)
  chmodSync(join(folder, 'home', 'state'), 0o755)
  using _store = openStore({ path })
  expect([modeOf(path), modeOf(`${path}-wal`), modeOf(join(folder, 'home', 'state'))]).toEqual(['600', '600', '755'])
})

test('works in WAL mode, on strict tables', () => {
  makeStore()
  const connection = new DatabaseSync(path)
  const tables = connection.prepare(`SELECT name, strict FROM pragma_table_list WHERE schema = 'main'`).all()
  const mode = connection.prepare('PRAGMA journal_mode').get()
  connection.close()
  expect(mode).toEqual({ journal_mode: 'wal' })
  const ours = tables.filter((table) => !String(table['name']).startsWith('sqlite_'))
  expect(new Set(ours.map((table) => table['name']))).toEqual(
    new Set([
      'event_counter',
      'events',
      'facts',
      'holds',
      'jobs',
      'messages',
      'questions',
      'sessions',
      'terminals',
      'worktrees',
    ]),
  )
  expect(ours.every((table) => table['strict'] === 1)).toBe(true)
})

test('refuses a file of a newer version, says what to do, and leaves the file as it is', () => {
  makeStore()
  tamper('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)')
  const before = readFileSync(path)
  const fault = faultOf(() => openStore({ path }))
  expect(fault.code).toBe('STORE_NEWER')
  expect(fault.message).toContain(`schema 99; this one knows ${migrations.length}`)
  expect(fault.message).toContain('start the newer CAO again, or set CAO_HOME to another folder')
  expect(readFileSync(path)).toEqual(before)
})

test('refuses a file that is no database, says what to do, and leaves the file as it is', () => {
  mkdirSync(join(folder, 'home', 'state'), { recursive: true })
  writeFileSync(path, 'This is not a database, but a text of some length. '.repeat(100))
  const before = readFileSync(path)
  const fault = faultOf(() => openStore({ path }))
  expect(fault.code).toBe('STORE_CORRUPT')
  expect(fault.message).toContain(path)
  expect(fault.message).toContain('"cao doctor --repair-store" puts it aside')
  expect(readFileSync(path)).toEqual(before)
})

test('refuses a damaged file', () => {
  {
    using store = openStore({ path })
    for (let i = 0; i < 200; i++) store.setFact(`fact ${i}`, 'x'.repeat(500))
  }
  const bytes = readFileSync(path)
  bytes.fill(0x5a, 8192, bytes.length - 4096)
  writeFileSync(path, bytes)
  expect(faultOf(() => openStore({ path })).code).toBe('STORE_CORRUPT')
})

test('refuses a file that was cut off', () => {
  {
    using store = openStore({ path })
    for (let i = 0; i < 200; i++) store.setFact(`fact ${i}`, 'x'.repeat(500))
  }
  writeFileSync(path, readFileSync(path).subarray(0, 50_000))
  expect(faultOf(() => openStore({ path })).code).toBe('STORE_CORRUPT')
})

test("refuses another program's database and leaves it as it is", () => {
  mkdirSync(join(folder, 'home', 'state'), { recursive: true })
  tamper('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)')
  const fault = faultOf(() => openStore({ path }))
  expect([fault.code, fault.message.includes('another program wrote it')]).toEqual(['STORE_CORRUPT', true])
  const connection = new DatabaseSync(path)
  expect(connection.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'theirs' }])
  connection.close()
})

test('a place where no file can be made is a fault that names it', () => {
  writeFileSync(join(folder, 'home'), 'a file, not a folder')
  const fault = faultOf(() => openStore({ path }))
  expect([fault.code, fault.message.includes(path)]).toEqual(['INTERNAL', true])
})

const nextVersion = migrations.length + 1

test('copies an existing file before it migrates it, for its owner alone, and a new file not', () => {
  makeStore()
  expect(readdirSync(join(folder, 'home', 'state'))).toEqual(['cao.db'])
  const next = {
    version: nextVersion,
    sql: `CREATE TABLE later (x INTEGER) STRICT; UPDATE facts SET value = 'changed'`,
  }
  writeFileSync(`${path}.v${migrations.length}.20200101T000000Z.backup.partial`, 'left by a crash')
  using database = new Database(path)
  migrate(database, [...migrations, next])
  expect(database.get('PRAGMA user_version')).toEqual({ user_version: nextVersion })
  expect(database.get('SELECT value FROM facts')).toEqual({ value: 'changed' })
  const copies = listBackups(path)
  expect(copies.map(({ schema, path: copy }) => [schema, readFact(copy), modeOf(copy)])).toEqual([
    [migrations.length, 'yes', '600'],
  ])
  expect(Math.abs((copies[0]?.takenAtMs ?? 0) - statSync(copies[0]?.path ?? '').mtimeMs)).toBeLessThan(2_000)
  expect(readdirSync(join(folder, 'home', 'state')).filter((file) => file.includes('partial'))).toEqual([])
  expect(faultOf(() => openStore({ path })).code).toBe('STORE_NEWER')
})

test('a copy is made while the store is at work, not more often than asked, and the newest few and one of each older schema are kept', async () => {
  makeStore()
  for (const day of ['01', '02', '03', '04', '05', '06', '07']) {
    writeFileSync(`${path}.v${migrations.length}.202001${day}T000000Z.backup`, '')
  }
  for (const day of ['11', '12']) writeFileSync(`${path}.v0.201901${day}T000000Z.backup`, '')
  using store = openStore({ path })
  const nowMs = statSync(path).mtimeMs
  const copying = store.backUp({ nowMs, everyMs: 3_600_000 })
  store.setFact('later', 'too')
  const copy = await copying
  expect(readFact(copy ?? '')).toBe('yes')
  expect(modeOf(copy ?? '')).toBe('600')
  expect(await store.backUp({ nowMs, everyMs: 3_600_000 })).toBeUndefined()
  const kept = listBackups(path).map((each) => each.path)
  expect(kept).toHaveLength(backupsMax + 1)
  expect([kept[0], kept.at(-1)]).toEqual([copy, `${path}.v0.20190112T000000Z.backup`])
})

test('a migration that fails half way leaves the file at its version, with all its rows', () => {
  makeStore()
  const bad = { version: nextVersion, sql: `UPDATE facts SET value = 'lost'; CREATE TABLE facts (x)` }
  {
    using database = new Database(path)
    expect(() => migrate(database, [...migrations, bad])).toThrow('already exists')
  }
  using store = openStore({ path })
  expect(store.getFact('kept')).toBe('yes')
})

test('a file that a crash left empty is made as if it were not there', () => {
  mkdirSync(join(folder, 'home', 'state'), { recursive: true })
  writeFileSync(path, '')
  makeStore()
  expect(readFact(path)).toBe('yes')
})

test('processes that make the same file at the same time all get it', async () => {
  const module = fileURLToPath(new URL('./open.ts', import.meta.url))
  const code = `import { openStore } from ${JSON.stringify(module)}
    using store = openStore({ path: ${JSON.stringify(path)} })
    store.events.append({ type: 'session.created', sessionName: 'cao-x' }, 1)`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', code])
  await Promise.all([run(), run(), run(), run()])
  using store = openStore({ path })
  expect(store.events.listAfter(0, 10).map((event) => event.seq)).toEqual([1, 2, 3, 4])
})

test('a transaction whose rows SQLite gave up by itself can not write the rest of them outside', () => {
  mkdirSync(join(folder, 'home', 'state'), { recursive: true })
  using database = new Database(path)
  database.execute('CREATE TABLE t (x INTEGER)')
  const fault = faultOf(() =>
    database.transaction(() => {
      database.run('INSERT INTO t VALUES (1)')
      database.execute('ROLLBACK')
      database.run('INSERT INTO t VALUES (2)')
    }),
  )
  expect(fault.message).toContain('was rolled back before this statement')
  expect(database.all('SELECT x FROM t')).toEqual([])
})

test('the file says whose it is', () => {
  makeStore()
  expect(readFileSync(path).subarray(68, 72).toString('latin1')).toBe('CAO1')
  expect(applicationId).toBe(0x43414f31)
})

import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LogLevel, silentLog } from '../lib/log.ts'
import { type AuditEntry, auditBytesMax, earlierAuditFile, openAudit } from './audit.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-audit-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const entry: AuditEntry = {
  at: '2026-01-02T03:04:05.678Z',
  actor: 'agent',
  terminal: '12ab34cd',
  door: 'unix',
  method: 'POST',
  route: '/terminals/:id/key',
  target: '12ab34ce',
  status: 403,
  code: 'FORBIDDEN',
}

test('one entry is one line that only its owner can read', () => {
  const path = join(dir, 'audit.jsonl')
  openAudit(path, silentLog)(entry)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(entry)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a full file becomes the earlier one, of which there is one', () => {
  const path = join(dir, 'audit.jsonl')
  writeFileSync(earlierAuditFile(path), 'older')
  writeFileSync(path, '')
  truncateSync(path, auditBytesMax)
  openAudit(path, silentLog)(entry)
  expect([statSync(earlierAuditFile(path)).size, readFileSync(path, 'utf8')]).toEqual([
    auditBytesMax,
    `${JSON.stringify(entry)}\n`,
  ])
})

test('a line that can not be written stops no request, and the log says so', () => {
  const lines: [LogLevel, string][] = []
  const log = { ...silentLog, write: (level: LogLevel, message: string) => void lines.push([level, message]) }
  openAudit(join(dir, 'no', 'such', 'folder.jsonl'), log)(entry)
  expect(lines).toEqual([['error', 'an audit line is lost']])
})

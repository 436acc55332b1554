/** Questions that agents have put, each closed once. */
import { type QuestionId, type TerminalId, trustId } from '../../domain/ids.ts'
import type { Question } from '../../domain/question.ts'
import type { WaitingReason } from '../../domain/status.ts'
import { assert } from '../../lib/assert.ts'
import type { QuestionRows } from '../store.ts'
import { readInteger, readJson, readOneOf, readOptional, readText, writeJson } from './columns.ts'
import type { Database, Row } from './database.ts'

const reasons: readonly WaitingReason[] = ['permission', 'question', 'trust', 'login', 'update']

const toQuestion = (row: Row): Question => ({
  id: trustId<QuestionId>(readText(row, 'id')),
  terminalId: trustId<TerminalId>(readText(row, 'terminal_id')),
  reason: readOneOf(row, 'reason', reasons),
  text: readText(row, 'text'),
  options: readJson(row, 'options'),
  vendorId: readOptional(row, 'vendor_id', readText),
  openedAtMs: readInteger(row, 'opened_at_ms'),
  closedAtMs: readOptional(row, 'closed_at_ms', readInteger),
  answer: readOptional(row, 'answer', readText),
})

export function createQuestionRows(database: Database): QuestionRows {
  return {
    insert(question) {
      const row = database.get(
        `INSERT INTO questions (id, terminal_id, reason, text, options, vendor_id, opened_at_ms)
         VALUES (:id, :terminalId, :reason, :text, :options, :vendorId, :openedAtMs) RETURNING *`,
        {
          id: question.id,
          terminalId: question.terminalId,
          reason: question.reason,
          text: question.text,
          options: writeJson(question.options),
          vendorId: question.vendorId ?? null,
          openedAtMs: question.openedAtMs,
        },
      )
      assert(row !== undefined, 'an inserted question came back empty')
      return toQuestion(row)
    },
    find(id) {
      const row = database.get('SELECT * FROM questions WHERE id = :id', { id })
      return row && toQuestion(row)
    },
    listOpen(terminalId) {
      const sql = `SELECT * FROM questions WHERE closed_at_ms IS NULL AND (:terminalId IS NULL OR terminal_id = :terminalId)
        ORDER BY opened_at_ms, rowid`
      return database.all(sql, { terminalId: terminalId ?? null }).map(toQuestion)
    },
    close(id, atMs, answer) {
      const sql = 'UPDATE questions SET closed_at_ms = :atMs, answer = :answer WHERE id = :id AND closed_at_ms IS NULL'
      return database.run(sql, { id, atMs, answer: answer ?? null }) === 1
    },
  }
}

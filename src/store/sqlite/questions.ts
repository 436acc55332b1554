/** Questions that agents have put, each closed once. */
import { type QuestionId, type TerminalId, trustId, trustMessageId } from '../../domain/ids.ts'
import { type Question, questionStates } from '../../domain/question.ts'
import type { Operation, WaitingReason } from '../../domain/status.ts'
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
  operation: readOptional(row, 'operation', readJson<Operation>),
  state: readOneOf(row, 'state', questionStates),
  openedAtMs: readInteger(row, 'opened_at_ms'),
  closedAtMs: readOptional(row, 'closed_at_ms', readInteger),
  answer: readOptional(row, 'answer', readText),
  answeredBy: readOptional(row, 'answered_by', readText),
  detail: readOptional(row, 'detail', readText),
  noticeId: readOptional(row, 'notice_id', (r, c) => trustMessageId(readInteger(r, c))),
})

export function createQuestionRows(database: Database): QuestionRows {
  return {
    insert(question) {
      const row = database.get(
        `INSERT INTO questions (id, terminal_id, reason, text, options, vendor_id, operation, opened_at_ms)
         VALUES (:id, :terminalId, :reason, :text, :options, :vendorId, :operation, :openedAtMs) RETURNING *`,
        {
          id: question.id,
          terminalId: question.terminalId,
          reason: question.reason,
          text: question.text,
          options: writeJson(question.options),
          vendorId: question.vendorId ?? null,
          operation: question.operation === undefined ? null : writeJson(question.operation),
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
    list({ limit, states = questionStates, terminalId }) {
      const sql = `SELECT * FROM questions WHERE state IN (SELECT value FROM json_each(:states))
        AND (:terminalId IS NULL OR terminal_id = :terminalId) ORDER BY opened_at_ms DESC, rowid DESC LIMIT :limit`
      const values = { states: JSON.stringify(states), terminalId: terminalId ?? null, limit }
      return database.all(sql, values).map(toQuestion)
    },
    close(id, atMs, { state, answer, by, detail }) {
      const sql = `UPDATE questions SET state = :state, closed_at_ms = :atMs, answer = :answer, answered_by = :by, detail = :detail
        WHERE id = :id AND closed_at_ms IS NULL`
      const values = { id, atMs, state, answer: answer ?? null, by: by ?? null, detail: detail ?? null }
      return database.run(sql, values) === 1
    },
    setNotice(id, messageId) {
      database.run('UPDATE questions SET notice_id = :messageId WHERE id = :id', { id, messageId })
    },
    findByNotice(messageId) {
      const row = database.get('SELECT * FROM questions WHERE notice_id = :messageId', { messageId })
      return row && toQuestion(row)
    },
    noteShown(id, to) {
      const sql = `UPDATE questions SET shown_to = json_insert(shown_to, '$[#]', :to)
        WHERE id = :id AND NOT EXISTS (SELECT 1 FROM json_each(shown_to) WHERE value = :to)`
      database.run(sql, { id, to })
    },
    isShownTo(id, to) {
      const sql = 'SELECT 1 FROM questions, json_each(shown_to) WHERE questions.id = :id AND value = :to'
      return database.get(sql, { id, to }) !== undefined
    },
  }
}

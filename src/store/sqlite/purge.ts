/**
 * Retention: drops what ended before a moment. Rows of a terminal go only with or after it was deleted. Events are
 * dropped from the old end only, whatever they tell of: the log has no holes, and a reader sees where it begins.
 */
import { openDeliveryStates } from '../../domain/delivery.ts'
import type { RetentionOutcome, Store } from '../store.ts'
import type { Database } from './database.ts'

const deletedTerminals = `SELECT id FROM terminals WHERE life = 'deleted'`
const isGone = (column: string): string =>
  `(${column} IS NULL OR ${column} NOT IN (SELECT id FROM terminals WHERE life <> 'deleted'))`

const messagesSql = `
DELETE FROM messages WHERE updated_at_ms < :beforeMs AND receiver_id IN (${deletedTerminals})
  AND state NOT IN (SELECT value FROM json_each(:openStates))`

const jobsSql = `
DELETE FROM jobs WHERE ended_at_ms < :beforeMs AND ${isGone('worker_id')} AND ${isGone('caller_id')}`

const questionsSql = `
DELETE FROM questions WHERE closed_at_ms < :beforeMs AND terminal_id IN (${deletedTerminals})`

const terminalsSql = `
DELETE FROM terminals WHERE life = 'deleted' AND last_active_at_ms < :beforeMs
  AND NOT EXISTS (SELECT 1 FROM messages WHERE receiver_id = terminals.id)
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE worker_id = terminals.id AND ended_at_ms IS NULL)`

const eventsSql = `
DELETE FROM events WHERE seq < (
  SELECT ifnull(min(seq), (SELECT last_seq + 1 FROM event_counter)) FROM events WHERE at_ms >= :beforeMs)`

export function createPurge(database: Database): Store['purge'] {
  const drop = (beforeMs: number): RetentionOutcome => {
    const messages = database.run(messagesSql, { beforeMs, openStates: JSON.stringify(openDeliveryStates) })
    const jobs = database.run(jobsSql, { beforeMs })
    const questions = database.run(questionsSql, { beforeMs })
    const terminals = database.run(terminalsSql, { beforeMs })
    return { terminals, messages, jobs, questions, events: database.run(eventsSql, { beforeMs }) }
  }
  return (beforeMs, { isDryRun } = { isDryRun: false }) => {
    if (!isDryRun) return database.atomically(() => drop(beforeMs))
    const undo = new Undo()
    try {
      return database.transaction(() => {
        undo.outcome = drop(beforeMs)
        throw undo
      })
    } catch (error) {
      if (error !== undo || undo.outcome === undefined) throw error
      return undo.outcome
    }
  }
}

/** Thrown to roll a dry run back. */
class Undo extends Error {
  outcome: RetentionOutcome | undefined
}

/** Messages: the inbox of every terminal, and how far each message has come. */
import { type DeliveryState, deliveryStates, openDeliveryStates, stepDelivery } from '../../domain/delivery.ts'
import { AppError } from '../../domain/errors.ts'
import {
  type JobId,
  type MessageId,
  type MessageToken,
  type TerminalId,
  trustId,
  trustMessageId,
} from '../../domain/ids.ts'
import { inboxLengthMax, type Message, messageKinds } from '../../domain/message.ts'
import { assert } from '../../lib/assert.ts'
import type { MessageRows } from '../store.ts'
import { readInteger, readOneOf, readOptional, readText } from './columns.ts'
import type { Database, Row } from './database.ts'
import { moveRow } from './move.ts'

const toMessage = (row: Row): Message => ({
  id: trustMessageId(readInteger(row, 'id')),
  token: trustId<MessageToken>(readText(row, 'token')),
  kind: readOneOf(row, 'kind', messageKinds),
  senderId: readText(row, 'sender_id'),
  receiverId: trustId<TerminalId>(readText(row, 'receiver_id')),
  jobId: readOptional(row, 'job_id', (r, c) => trustId<JobId>(readText(r, c))),
  body: readText(row, 'body'),
  state: readOneOf(row, 'state', deliveryStates),
  detail: readOptional(row, 'detail', readText),
  attempts: readInteger(row, 'attempts'),
  createdAtMs: readInteger(row, 'created_at_ms'),
  updatedAtMs: readInteger(row, 'updated_at_ms'),
})

const insertSql = `
INSERT INTO messages (token, kind, sender_id, receiver_id, job_id, body, state, created_at_ms, updated_at_ms)
VALUES (:token, :kind, :senderId, :receiverId, :jobId, :body, 'queued', :createdAtMs, :createdAtMs)
RETURNING *`

const stepSql = `
UPDATE messages SET state = :to, detail = :detail, attempts = attempts + :more, updated_at_ms = :atMs
WHERE id = :id AND state = :from
RETURNING *`

/** A list of states is one JSON parameter, so that the statement is the same for every list. */
const inStates = 'state IN (SELECT value FROM json_each(:states))'
const openStates = JSON.stringify(openDeliveryStates)

function requireRoom(database: Database, receiverId: TerminalId): void {
  const sql = `SELECT count(*) AS waiting FROM messages WHERE receiver_id = :receiverId AND ${inStates}`
  const row = database.get(sql, { receiverId, states: openStates })
  if (row === undefined || readInteger(row, 'waiting') < inboxLengthMax) return
  throw new AppError('QUEUE_FULL', `${inboxLengthMax} messages wait for ${receiverId} already: try again later`, {
    data: { receiverId },
  })
}

/** The proof of arrival stays with what comes after it; any other detail belongs to the state that it explained. */
function nextDetail(message: Message, detail: string | undefined): string | undefined {
  if (detail !== undefined) return detail
  return message.state === 'confirmed' || message.state === 'turn_started' ? message.detail : undefined
}

export function createMessageRows(database: Database): MessageRows {
  const findBy = (condition: string, values: Readonly<Record<string, string | number>>): Message | undefined => {
    const row = database.get(`SELECT * FROM messages WHERE ${condition}`, values)
    return row && toMessage(row)
  }
  const find = (id: MessageId): Message | undefined => findBy('id = :id', { id })
  return {
    insert: (message) =>
      database.atomically(() => {
        requireRoom(database, message.receiverId)
        const { token, kind, senderId, receiverId, body, createdAtMs } = message
        const jobId = message.jobId ?? null
        const row = database.get(insertSql, { token, kind, senderId, receiverId, jobId, body, createdAtMs })
        assert(row !== undefined, 'an inserted message came back empty')
        return toMessage(row)
      }),
    find,
    findByToken: (token) => findBy('token = :token', { token }),
    list(receiverId, { limit, states = deliveryStates }) {
      const sql = `SELECT * FROM messages WHERE receiver_id = :receiverId AND ${inStates} ORDER BY id LIMIT :limit`
      return database.all(sql, { receiverId, states: JSON.stringify(states), limit }).map(toMessage)
    },
    listByState(states) {
      const sql = `SELECT * FROM messages WHERE ${inStates} ORDER BY id`
      return database.all(sql, { states: JSON.stringify(states) }).map(toMessage)
    },
    count(receiverId, states) {
      const sql = `SELECT count(*) AS found FROM messages WHERE receiver_id = :receiverId AND ${inStates}`
      const row = database.get(sql, { receiverId, states: JSON.stringify(states) })
      return row === undefined ? 0 : readInteger(row, 'found')
    },
    hasSent: (senderId, receiverId, sinceMs) =>
      findBy(
        `receiver_id = :receiverId AND sender_id = :senderId AND kind = 'send_message' AND created_at_ms >= :sinceMs LIMIT 1`,
        { receiverId, senderId, sinceMs },
      ) !== undefined,
    nextQueued: (receiverId) =>
      findBy(`receiver_id = :receiverId AND state = 'queued' ORDER BY id LIMIT 1`, { receiverId }),
    step: (id, step, change) =>
      moveRow<Message, DeliveryState>({
        find: () => find(id),
        state: (message) => message.state,
        decide: (from) => stepDelivery(from, step),
        update(message, from, to) {
          const detail = nextDetail(message, change.detail) ?? null
          const more = change.countAttempt === true ? 1 : 0
          const row = database.get(stepSql, { id, from, to, detail, more, atMs: change.atMs })
          return row && toMessage(row)
        },
      }),
  }
}

/** Messages: the inbox of every terminal, and how far each message has come. */
import {
  badEndings,
  type DeliveryState,
  deliveryStates,
  openDeliveryStates,
  stepDelivery,
} from '../../domain/delivery.ts'
import { AppError } from '../../domain/errors.ts'
import {
  type JobId,
  type MessageId,
  type MessageToken,
  type TerminalId,
  trustId,
  trustMessageId,
} from '../../domain/ids.ts'
import {
  deliveryClasses,
  inboxLengthMax,
  type Message,
  messageKinds,
  type Rung,
  rungsMax,
} from '../../domain/message.ts'
import { evidenceSources, turnOutcomes } from '../../domain/status.ts'
import { assert } from '../../lib/assert.ts'
import type { MessageFilter, MessageRows, NewMessage } from '../store.ts'
import { readInteger, readJson, readOneOf, readOptional, readText } from './columns.ts'
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
  deliveryClass: readOneOf(row, 'class', deliveryClasses),
  resendOf: readOptional(row, 'resend_of', (r, c) => trustMessageId(readInteger(r, c))),
  state: readOneOf(row, 'state', deliveryStates),
  detail: readOptional(row, 'detail', readText),
  attempts: readInteger(row, 'attempts'),
  rungs: readJson<readonly (readonly [DeliveryState, number])[]>(row, 'rungs').map(([state, atMs]) => ({
    state,
    atMs,
  })),
  proof: readOptional(row, 'proof', (r, c) => readOneOf(r, c, evidenceSources)),
  turnOutcome: readOptional(row, 'turn_outcome', (r, c) => readOneOf(r, c, turnOutcomes)),
  createdAtMs: readInteger(row, 'created_at_ms'),
  updatedAtMs: readInteger(row, 'updated_at_ms'),
  droppedAtMs: readOptional(row, 'dropped_at_ms', readInteger),
  author: readOptional(row, 'author', readText),
  hops: readInteger(row, 'hops') || undefined,
  carriedBy: readOptional(row, 'carried_by', (r, c) => trustMessageId(readInteger(r, c))),
})

const insertSql = `
INSERT INTO messages
  (token, kind, sender_id, receiver_id, job_id, body, state, created_at_ms, updated_at_ms, author, hops, place,
   class, resend_of, rungs)
VALUES (:token, :kind, :senderId, :receiverId, :jobId, :body, 'queued', :createdAtMs, :createdAtMs, :author, :hops, :place,
  :class, :resendOf, :rungs)
RETURNING *`

/** Waits in a queue by itself, in the order of the queue. */
const queuedSql = `receiver_id = :receiverId AND state = 'queued' AND carried_by IS NULL ORDER BY ifnull(place, id), id`

const stepSql = `
UPDATE messages SET state = :to, detail = :detail, attempts = attempts + :more, updated_at_ms = :atMs, rungs = :rungs,
  proof = coalesce(:proof, proof), turn_outcome = coalesce(:turnOutcome, turn_outcome)
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

const writeRungs = (rungs: readonly Rung[]): string => JSON.stringify(rungs.map(({ state, atMs }) => [state, atMs]))

/** One more, and of too many the first and the newest ones. */
function addRung(rungs: readonly Rung[], next: Rung): readonly Rung[] {
  if (rungs.length < rungsMax) return [...rungs, next]
  return [...rungs.slice(0, 1), ...rungs.slice(2 - rungsMax), next]
}

const urgentSql = `
SELECT * FROM messages AS one WHERE receiver_id = :receiverId AND state = 'queued' AND carried_by IS NULL AND EXISTS (
  SELECT 1 FROM messages AS later WHERE later.receiver_id = :receiverId AND later.state = 'queued'
    AND later.class <> 'idle' AND later.sender_id = one.sender_id AND later.id >= one.id)
ORDER BY ifnull(place, id), id`

const isDeadSql = `dropped_at_ms IS NULL AND state IN (SELECT value FROM json_each(:dead))
  AND NOT EXISTS (SELECT 1 FROM messages AS again WHERE again.resend_of = messages.id)`

function searchMessages(database: Database, filter: MessageFilter): readonly Message[] {
  const { limit, states, receiverId, senderId, isDead = false } = filter
  const parts: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ...(states === undefined ? [] : [[inStates, { states: JSON.stringify(states) }] as const]),
    ...(receiverId === undefined ? [] : [['receiver_id = :receiverId', { receiverId }] as const]),
    ...(senderId === undefined ? [] : [['sender_id = :senderId', { senderId }] as const]),
    ...(isDead ? [[isDeadSql, { dead: JSON.stringify(badEndings) }] as const] : []),
  ]
  const condition = ['1', ...parts.map(([sql]) => sql)].join(' AND ')
  const values: Record<string, string | number> = Object.assign({ limit }, ...parts.map(([, each]) => each))
  return database.all(`SELECT * FROM messages WHERE ${condition} ORDER BY id DESC LIMIT :limit`, values).map(toMessage)
}

function insertMessage(database: Database, message: NewMessage): Message {
  return database.atomically(() => {
    requireRoom(database, message.receiverId)
    const { token, kind, senderId, receiverId, body, createdAtMs } = message
    const jobId = message.jobId ?? null
    const { deliveryClass = 'idle', resendOf } = message
    const rungs = writeRungs([{ state: 'queued', atMs: createdAtMs }])
    const rest = { class: deliveryClass, resendOf: resendOf ?? null, rungs }
    const more = { author: message.author ?? null, hops: message.hops ?? 0, place: message.placeOf ?? null }
    const row = database.get(insertSql, {
      token,
      kind,
      senderId,
      receiverId,
      jobId,
      body,
      createdAtMs,
      ...more,
      ...rest,
    })
    assert(row !== undefined, 'an inserted message came back empty')
    return toMessage(row)
  })
}

/** The queue of each receiver. */
function queueRows(
  database: Database,
): Pick<MessageRows, 'nextQueued' | 'listQueued' | 'listUrgent' | 'setCarrier' | 'listCarried'> {
  return {
    nextQueued: (receiverId) => {
      const row = database.get(`SELECT * FROM messages WHERE ${queuedSql} LIMIT 1`, { receiverId })
      return row && toMessage(row)
    },
    listQueued: (receiverId, limit) =>
      database.all(`SELECT * FROM messages WHERE ${queuedSql} LIMIT :limit`, { receiverId, limit }).map(toMessage),
    setCarrier(id, carrier) {
      const sql = `UPDATE messages SET carried_by = :carrier WHERE id = :id AND state = 'queued' AND carried_by IS NULL`
      return database.run(sql, { id, carrier }) === 1
    },
    listCarried: (carrier) =>
      database.all('SELECT * FROM messages WHERE carried_by = :carrier ORDER BY id', { carrier }).map(toMessage),
    listUrgent: (receiverId) => database.all(urgentSql, { receiverId }).map(toMessage),
  }
}

export function createMessageRows(database: Database): MessageRows {
  const findBy = (condition: string, values: Readonly<Record<string, string | number>>): Message | undefined => {
    const row = database.get(`SELECT * FROM messages WHERE ${condition}`, values)
    return row && toMessage(row)
  }
  const find = (id: MessageId): Message | undefined => findBy('id = :id', { id })
  return {
    ...queueRows(database),
    insert: (message) => insertMessage(database, message),
    find,
    findByToken: (token) => findBy('token = :token', { token }),
    findResend: (of) => findBy('resend_of = :of', { of }),
    search: (filter) => searchMessages(database, filter),
    setTurnOutcome(id, outcome) {
      database.run(`UPDATE messages SET turn_outcome = :outcome WHERE id = :id AND state = 'answered'`, { id, outcome })
    },
    drop: (id, atMs) =>
      database.get('UPDATE messages SET dropped_at_ms = :atMs WHERE id = :id AND dropped_at_ms IS NULL RETURNING id', {
        id,
        atMs,
      }) !== undefined,
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
    findNewestTaken: (receiverId) =>
      findBy(
        `receiver_id = :receiverId AND state IN ('confirmed', 'turn_started', 'answered') ORDER BY updated_at_ms DESC, id DESC LIMIT 1`,
        { receiverId },
      ),
    step: (id, step, change) =>
      moveRow<Message, DeliveryState>({
        find: () => find(id),
        state: (message) => message.state,
        decide: (from) => stepDelivery(from, step),
        update(message, from, to) {
          const detail = nextDetail(message, change.detail) ?? null
          const more = change.countAttempt === true ? 1 : 0
          const { atMs, proof = null, turnOutcome = null } = change
          const rungs = writeRungs(addRung(message.rungs, { state: to, atMs }))
          const row = database.get(stepSql, { id, from, to, detail, more, atMs, rungs, proof, turnOutcome })
          return row && toMessage(row)
        },
      }),
  }
}

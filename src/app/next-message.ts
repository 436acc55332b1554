/**
 * What is typed next, decided at the moment when it can be typed: what is moot by then is dropped with a reason, and what CAO has
 * to tell (results of tasks, notices) goes as one digest when several wait in a row. A digest takes the place of its first, so
 * the order of the queue stays; each message that it carries keeps its own row and moves with the digest, proof included.
 */

import { AppError } from '../domain/errors.ts'
import { makeMessageToken } from '../domain/ids.ts'
import { isJobOpen } from '../domain/job.ts'
import { formatHeader, headlineOf, type Message } from '../domain/message.ts'
import type { CoreContext } from './core-context.ts'

/** Messages of one digest. */
export const digestLengthMax = 50
/** A result up to this length is given whole, a longer one as its beginning and where the rest is. Units: characters. */
export const wholeResultMax = 600
/** Of a notice, whose rest is nowhere else. */
const wholeNoticeMax = 6_000

/** The head itself, or the digest that takes its place; undefined: the head is moot, look at the queue anew. */
export function prepareNext(context: CoreContext, head: Message): Message | undefined {
  const { store } = context
  if (dropMoot(context, head)) return undefined
  if (!isTold(head)) return head
  const row: Message[] = []
  for (const message of store.messages.listQueued(head.receiverId, digestLengthMax)) {
    if (!isTold(message)) break
    if (!dropMoot(context, message)) row.push(message)
  }
  if (row.length < 2 || row[0]?.id !== head.id) return head
  try {
    return bundle(context, head, row)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'QUEUE_FULL') throw error
    return head
  }
}

const isTold = ({ kind, carriedBy }: Message): boolean =>
  (kind === 'callback' || kind === 'notice') && carriedBy === undefined

function dropMoot({ store, ladder }: CoreContext, message: Message): boolean {
  const why = findMoot({ store }, message)
  return why !== undefined && ladder.step(message.id, 'expire', `moot: ${why}`) !== undefined
}

/** Why nobody needs it any more. */
function findMoot({ store }: Pick<CoreContext, 'store'>, { id, kind, jobId }: Message): string | undefined {
  if (kind === 'notice') {
    const question = store.questions.findByNotice(id)
    return question === undefined || question.state === 'open' ? undefined : `${question.id} is ${question.state}`
  }
  if (kind === 'callback' || jobId === undefined) return undefined
  const job = store.jobs.find(jobId)
  return job === undefined || isJobOpen(job) ? undefined : `its job has ended (${job.state})`
}

function bundle({ store, clock, random, events, log }: CoreContext, head: Message, row: readonly Message[]): Message {
  const atMs = clock.nowMs()
  const { digest, event } = store.transaction(() => {
    const digest = store.messages.insert({
      token: makeMessageToken(random),
      kind: 'digest',
      senderId: 'cao',
      author: 'cao',
      receiverId: head.receiverId,
      jobId: undefined,
      body: formatDigest(row),
      createdAtMs: atMs,
      placeOf: head.id,
      hops: Math.max(...row.map(({ hops = 0 }) => hops)),
    })
    for (const { id } of row) store.messages.setCarrier(id, digest.id)
    const { id: messageId, kind, senderId, receiverId } = digest
    const body = {
      type: 'message.queued',
      messageId,
      kind,
      senderId,
      receiverId,
      author: 'cao',
      resendOf: undefined,
    } as const
    return { digest, event: store.events.append(body, atMs) }
  })
  events.announce(event)
  log.write('info', 'messages bundled', { messageId: digest.id, carried: row.length })
  return digest
}

/** Each under its own header, in the order in which they came. Pure. */
export function formatDigest(row: readonly Message[]): string {
  const parts = row.map((message) => `${formatHeader(message)}\n${formatPart(message)}`)
  return [`${row.length} messages came meanwhile, in this order:`, ...parts].join('\n\n')
}

function formatPart({ kind, jobId, body }: Message): string {
  const max = kind === 'callback' && jobId !== undefined ? wholeResultMax : wholeNoticeMax
  // Who quotes a header must not seem to begin the next message.
  const quoted = body.replaceAll(/^(?=\s*\[cao )/gm, '> ')
  if (quoted.length <= max) return quoted
  const rest = jobId === undefined ? '' : `; job_result with ${jobId} gives all of it`
  return `${headlineOf(quoted)}\n${quoted
    .split('\n')
    .slice(1)
    .join('\n')
    .slice(0, max / 2)
    .trimEnd()} …\n(${body.length} characters${rest})`
}

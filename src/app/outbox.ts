/**
 * Takes in what agents wrote while no server ran, and what they write while it does: each file once, by its uuid.
 * A file that can not be read is set aside with its reason, never dropped silently.
 */
import { watch } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../async/wait.ts'
import { parseTerminalId, trustMessageId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { isOutboxFile, outboxFilesMax, parseOutbox } from '../protocol/outbox.ts'
import type { AppContext } from './context.ts'
import { type QueueMessage, queueMessage, requireMessage } from './mailbox.ts'

const slowLookMs = 2_000

/** Ingests everything there is, in the order in which it was written; returns how many messages were queued. */
export async function ingestOutbox(context: AppContext): Promise<number> {
  const { outboxDir } = context.layout
  await mkdir(outboxDir, { recursive: true, mode: 0o700 })
  const names = (await readdir(outboxDir)).filter(isOutboxFile).slice(0, outboxFilesMax)
  const entries: { readonly name: string; readonly parsed: ReturnType<typeof parseOutbox> }[] = []
  for (const name of names) {
    const text = await readFile(join(outboxDir, name), 'utf8').catch(() => '')
    entries.push({ name, parsed: parseOutbox(text) })
  }
  const createdAt = (entry: (typeof entries)[number]) => (entry.parsed.ok ? entry.parsed.message.created_at : '')
  let queued = 0
  for (const entry of entries.toSorted((a, b) => createdAt(a).localeCompare(createdAt(b)))) {
    const path = join(outboxDir, entry.name)
    const why = entry.parsed.ok ? ingest(context, entry.parsed.message) : entry.parsed.why
    if (why === 'queued') queued++
    if (why === 'queued' || why === 'known') await rm(path, { force: true })
    else {
      context.log.write('warn', 'outbox file set aside', { name: entry.name, why })
      await rename(path, `${path}.refused`)
    }
  }
  return queued
}

const factOf = (uuid: string): string => `outbox:${uuid}`

/** Queues the message unless one with its uuid was queued before, through a file or through the door; returns that one then. */
export function queueOnce(context: AppContext, uuid: string, message: QueueMessage): Message {
  const { store } = context
  const known = store.getFact(factOf(uuid))
  if (known !== undefined) return requireMessage(context, trustMessageId(Number(known)))
  return store.transaction(() => {
    const queued = queueMessage(context, message)
    store.setFact(factOf(uuid), String(queued.id))
    return queued
  })
}

function ingest(
  context: AppContext,
  message: Extract<ReturnType<typeof parseOutbox>, { ok: true }>['message'],
): string {
  const { store } = context
  if (store.getFact(factOf(message.uuid)) !== undefined) return 'known'
  const senderId = parseTerminalId(message.sender_id)
  const sender = senderId === undefined ? undefined : store.terminals.find(senderId)
  const receiverId = message.receiver_id === null ? sender?.callerId : parseTerminalId(message.receiver_id)
  if (senderId === undefined || sender === undefined) return 'its sender is not known'
  if (receiverId === undefined) return 'it names no receiver and its sender has no caller'
  try {
    const { uuid, message: body } = message
    queueOnce(context, uuid, { kind: 'send_message', senderId, receiverId, body, jobId: undefined })
    return 'queued'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Goes on ingesting while the server runs: an agent may have thought it was down. */
export async function followOutbox(context: AppContext, signal: AbortSignal): Promise<void> {
  const { outboxDir } = context.layout
  const watcher = watch(outboxDir, { persistent: false }, () => {
    ingestOutbox(context).catch((error: unknown) =>
      context.log.write('warn', 'outbox unreadable', { error: String(error) }),
    )
  })
  watcher.on('error', (error) => context.log.write('warn', 'outbox watch failed', { error: String(error) }))
  try {
    while (!signal.aborted) {
      await sleep(context.clock, slowLookMs, signal).catch(() => undefined)
      if (!signal.aborted) await ingestOutbox(context)
    }
  } finally {
    watcher.close()
  }
}

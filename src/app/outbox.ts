/**
 * Takes in what agents wrote while no server ran, and what they write while it does: each file once, by its uuid. What
 * can be tried again stays; what is refused is set aside with its reason and its sender is told. Nothing is dropped silently.
 */
import { watch } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SerialQueue } from '../async/serial-queue.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { parseTerminalId, type TerminalId, trustMessageId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { readPrivateFile } from '../home/private-file.ts'
import { isOutboxFile, type OutboxMessage, outboxFilesMax, parseOutbox } from '../protocol/outbox.ts'
import { bodyBytesMax } from '../protocol/version.ts'
import type { AppContext } from './context.ts'
import { type QueueMessage, queueMessage, requireMessage } from './mailbox.ts'

const slowLookMs = 2_000
/** Looks that wait for one another; more add nothing. */
const looksMax = 2

type Entry = { readonly name: string; readonly parsed: ReturnType<typeof parseOutbox> }
type Outcome =
  | { readonly kind: 'queued' | 'known' }
  /** For now: the file stays. */
  | { readonly kind: 'later'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

export class Outbox {
  readonly #context: AppContext
  readonly #looks = new SerialQueue('outbox', looksMax)

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Takes in everything there is, in the order in which it was written; returns how many messages were queued. */
  ingest(): Promise<number> {
    return this.#looks.run(() => this.#ingestAll())
  }

  /** Goes on while the server runs: an agent may have thought it was down. */
  async follow(signal: AbortSignal): Promise<void> {
    const { log, clock, layout } = this.#context
    const look = () => {
      // One that waits already will see everything.
      if (this.#looks.length >= looksMax) return
      this.ingest().catch((error: unknown) => log.write('warn', 'outbox unreadable', { error: String(error) }))
    }
    const watcher = watch(layout.outboxDir, { persistent: false }, look)
    watcher.on('error', (error) => log.write('warn', 'outbox watch failed', { error: String(error) }))
    try {
      while (!signal.aborted) {
        await sleep(clock, slowLookMs, signal).catch(() => undefined)
        if (!signal.aborted) look()
      }
    } finally {
      watcher.close()
      await this.#looks.idle()
    }
  }

  async #ingestAll(): Promise<number> {
    let queued = 0
    for (const entry of await this.#readEntries()) {
      const outcome = this.#decide(entry)
      if (outcome.kind === 'queued') queued++
      await this.#settle(entry, outcome)
    }
    return queued
  }

  async #readEntries(): Promise<readonly Entry[]> {
    const { outboxDir } = this.#context.layout
    await mkdir(outboxDir, { recursive: true, mode: 0o700 })
    const names = (await readdir(outboxDir)).filter(isOutboxFile).slice(0, outboxFilesMax)
    const entries: Entry[] = []
    for (const name of names) {
      const text = await readPrivateFile(join(outboxDir, name), bodyBytesMax).catch(() => undefined)
      entries.push({ name, parsed: parseOutbox(text ?? '') })
    }
    const createdAt = ({ parsed }: Entry) => (parsed.ok ? parsed.message.created_at : '')
    return entries.toSorted((a, b) => createdAt(a).localeCompare(createdAt(b)))
  }

  #decide({ parsed }: Entry): Outcome {
    if (!parsed.ok) return { kind: 'refused', why: parsed.why }
    const { message } = parsed
    const { store } = this.#context
    if (store.getFact(factOf(message.uuid)) !== undefined) return { kind: 'known' }
    const { senderId, receiverId } = this.#resolve(message)
    if (senderId === undefined) return { kind: 'refused', why: 'its sender is not known' }
    if (receiverId === undefined) return { kind: 'refused', why: 'it names no receiver and its sender has no caller' }
    try {
      const whole = { kind: 'send_message', senderId, receiverId, body: message.message, jobId: undefined } as const
      queueOnce(this.#context, message.uuid, whole)
      return { kind: 'queued' }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isForNow = error.code === 'QUEUE_FULL' || error.code === 'STORAGE_FULL'
      return { kind: isForNow ? 'later' : 'refused', why: error.message }
    }
  }

  #resolve(message: OutboxMessage): {
    readonly senderId?: TerminalId | undefined
    readonly receiverId?: TerminalId | undefined
  } {
    const senderId = parseTerminalId(message.sender_id)
    const sender = senderId === undefined ? undefined : this.#context.store.terminals.find(senderId)
    if (sender === undefined) return {}
    const receiverId = message.receiver_id === null ? sender.callerId : parseTerminalId(message.receiver_id)
    return { senderId: sender.id, receiverId }
  }

  async #settle({ name, parsed }: Entry, outcome: Outcome): Promise<void> {
    const { log, layout } = this.#context
    const path = join(layout.outboxDir, name)
    switch (outcome.kind) {
      case 'queued':
      case 'known':
        return rm(path, { force: true })
      case 'later':
        log.write('warn', 'outbox file waits', { name, why: outcome.why })
        return
      case 'refused':
        log.write('warn', 'outbox file set aside', { name, why: outcome.why })
        await rename(path, `${path}.refused`)
        if (parsed.ok) this.#tellSender(parsed.message, outcome.why)
    }
  }

  #tellSender(message: OutboxMessage, why: string): void {
    const { senderId } = this.#resolve(message)
    if (senderId === undefined) return
    const headline = message.message.split('\n', 1)[0]?.slice(0, 80) ?? ''
    const body = `A message that you sent while the server was down was refused: ${why}. It began: ${headline}`
    try {
      queueMessage(this.#context, { kind: 'notice', senderId: 'cao', receiverId: senderId, body, jobId: undefined })
    } catch (error) {
      this.#context.log.write('warn', 'sender not told', { uuid: message.uuid, error: String(error) })
    }
  }
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

/**
 * One control client of a tmux server: a `tmux -C attach` process that carries commands, replies
 * and notifications. It never receives pane output (`no-output`): a client that does can bring the
 * whole server down. Its end of file is the fastest sign that the server died.
 *
 * It is attached to the keeper session, has a session and process group of its own, and inherits
 * no descriptor. Sizes, the number of waiting commands and every wait are limited.
 * Source: tmux(1), CONTROL MODE.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Clock } from '../async/clock.ts'
import { createDeferred } from '../async/wait.ts'
import { assert } from '../lib/assert.ts'
import { Emitter } from '../lib/emitter.ts'
import { existingServerArgs, type ServerAddress } from './address.ts'
import { type ClientErrorKind, classifyClientError } from './client-error.ts'
import { type ControlEvent, type ControlNotification, ControlParser } from './control-parser.ts'
import { quote } from './quote.ts'
import { ReplyQueue } from './reply-queue.ts'
import { type ClosedReason, type Runner, type RunOptions, type RunOutcome, replyText } from './runner.ts'
import { type BufferEncoding, bufferProbeLine, judgeBufferProbe } from './show-buffer.ts'

export const connectionLimits = {
  /** Commands written and not yet answered. */
  pendingMax: 4_096,
  /** Bytes of command lines that the client has not taken yet. */
  unwrittenBytesMax: 64 * 1024 * 1024,
  commandTimeoutMs: 10_000,
  openTimeoutMs: 5_000,
  closeTimeoutMs: 1_000,
  /** From the first sign of the client's end until the rest of its output is given up. */
  drainMs: 50,
} as const

export type ConnectionOptions = {
  readonly clock: Clock
  readonly address: ServerAddress
  /** Called with what a listener threw; must not throw. */
  readonly onListenerError: (error: unknown) => void
}

export type OpenOutcome =
  | { readonly kind: 'open'; readonly connection: TmuxConnection }
  | { readonly kind: 'not-open'; readonly why: ClientErrorKind | 'timed-out' | 'no-program'; readonly detail: string }

/** Starts a control client and waits until it is attached and asked how show-buffer prints. Never throws for a missing server. */
export async function openConnection(options: ConnectionOptions): Promise<OpenOutcome> {
  const { address, clock } = options
  const args = [...existingServerArgs(address), '-C', 'attach', '-t', `=${address.keeperSession}`, '-f', 'no-output']
  const child = spawn(address.tmux, args, { env: { ...address.env }, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const connection = new TmuxConnection(child, options)
  const opened = createDeferred<true>()
  using _deadline = clock.after(connectionLimits.openTimeoutMs, () => connection.abandon('not attached in time'))
  using _ready = connection.onNotification((event) => {
    if (event.name === 'session-changed') opened.resolve(true)
  })
  const first = await Promise.race([opened.promise, connection.closed])
  const probe = first === true ? await connection.run(bufferProbeLine, { replies: 3 }) : undefined
  if (probe?.kind === 'replied') {
    connection.bufferEncoding = judgeBufferProbe(replyText(probe.replies[1]))
    return { kind: 'open', connection }
  }
  await connection.close()
  const reason = await connection.closed
  if (reason.kind === 'closed') return { kind: 'not-open', why: 'timed-out', detail: reason.detail }
  const why = /ENOENT|EACCES/.test(reason.detail) ? 'no-program' : classifyClientError(reason.detail)
  return { kind: 'not-open', why, detail: reason.detail }
}

export class TmuxConnection implements Runner {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #clock: Clock
  readonly #parser = new ControlParser()
  readonly #replies: ReplyQueue
  readonly #notifications: Emitter<ControlNotification>
  readonly #closed = createDeferred<ClosedReason>()
  readonly #childGone = createDeferred<void>()
  #isClosed = false
  #isClosing = false
  #exitText: string | undefined
  #errorText = ''
  #sentinels = 0
  /** How this server prints the content of a buffer; found out once, when the connection opens. */
  bufferEncoding: BufferEncoding = 'raw'
  readonly onNotification: (listener: (event: ControlNotification) => void) => Disposable

  constructor(child: ChildProcessWithoutNullStreams, options: ConnectionOptions) {
    this.#child = child
    this.#clock = options.clock
    this.#replies = new ReplyQueue(options.clock)
    this.#notifications = new Emitter(options.onListenerError)
    this.onNotification = this.#notifications.on
    child.stdout.on('data', (bytes: Buffer) => this.#take(bytes))
    // What it last said may come on the other pipe: both are read to their end, for a bounded time.
    child.stdout.once('end', () => this.#endSoon())
    child.stderr.on('data', (bytes: Buffer) => {
      this.#errorText = `${this.#errorText}${bytes.toString('utf8')}`.slice(-2_000)
    })
    // A write to a client that has gone fails; its end is told by stdout and exit.
    child.stdin.on('error', () => undefined)
    child.once('error', (error) => {
      this.#errorText += error.message
      this.#childGone.resolve()
      this.#end()
    })
    child.once('exit', () => {
      this.#childGone.resolve()
      this.#endSoon()
    })
    child.once('close', () => this.#end())
  }

  /** Resolves once, when the connection has ended for whatever reason. */
  get closed(): Promise<ClosedReason> {
    return this.#closed.promise
  }

  /** Resolves when the client's process has gone, which may be after the connection ended. */
  get gone(): Promise<void> {
    return this.#childGone.promise
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#isClosing
  }

  /** Process id of the control client, for a caller that must end it before the server. */
  get clientPid(): number | undefined {
    return this.#child.pid
  }

  run(line: string, options: RunOptions = {}): Promise<RunOutcome> {
    // A newline would end the command, an empty line detaches, a comment gets no reply.
    assert(/^[a-z][^\n\r]*$/.test(line), 'a control command is one line that begins with a command name')
    const pending = this.#replies.length
    const unwritten = this.#child.stdin.writableLength
    if (pending >= connectionLimits.pendingMax || unwritten + line.length > connectionLimits.unwrittenBytesMax) {
      return Promise.resolve({ kind: 'overloaded', pending })
    }
    const replies = options.replies ?? 1
    const sentinel = replies === 'unknown' ? `cao-end-${++this.#sentinels}` : undefined
    const answer = this.#replies.expect({
      replies: replies === 'unknown' ? 0 : replies,
      sentinel,
      timeoutMs: options.timeoutMs ?? connectionLimits.commandTimeoutMs,
      what: line.split(' ', 1)[0] ?? '',
    })
    if (this.isOpen) {
      this.#child.stdin.write(sentinel === undefined ? `${line}\n` : `${line}\ndisplay-message -p ${quote(sentinel)}\n`)
    }
    return answer
  }

  /** Detaches and waits for the client to go, at most a second; then ends the process. Idempotent. */
  async close(): Promise<void> {
    if (!this.#isClosed) this.#isClosing = true
    this.#child.stdin.end()
    using _deadline = this.#clock.after(connectionLimits.closeTimeoutMs, () => this.abandon('did not detach in time'))
    await this.#childGone.promise
    await this.#closed.promise
  }

  /** Ends the client process without waiting. */
  abandon(detail: string): void {
    this.#isClosing = true
    this.#exitText ??= detail
    this.#child.kill('SIGKILL')
    if (this.#child.pid === undefined) this.#childGone.resolve()
    this.#end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #take(bytes: Uint8Array): void {
    for (const event of this.#parser.feed(bytes)) this.#handle(event)
  }

  #handle(event: ControlEvent): void {
    switch (event.kind) {
      case 'block':
        // The failed attach is a block of its own; its text explains the exit that follows.
        if (!this.#replies.accept(event) && !event.ok) {
          this.#errorText += `${replyText({ ok: false, lines: event.lines })}\n`
        }
        return
      case 'notification':
        this.#notifications.emit(event)
        return
      case 'exit':
        this.#exitText ??= event.reason ?? ''
        return
      case 'overflow':
        this.#finish({ kind: 'overflow', detail: `a ${event.what} over ${event.limitBytes} bytes` })
        this.#child.kill('SIGKILL')
        return
      case 'stray':
        return
    }
  }

  #endSoon(): void {
    this.#clock.after(connectionLimits.drainMs, () => this.#end())
  }

  #end(): void {
    const kind = this.#isClosing ? 'closed' : this.#exitText === undefined ? 'lost' : 'exited'
    const parts = [this.#errorText.trim(), this.#exitText ?? ''].filter((part) => part !== '')
    this.#finish({ kind, detail: parts.join('; ') })
  }

  #finish(reason: ClosedReason): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closed.resolve(reason)
    this.#replies.close(reason)
    this.#child.stdin.end()
  }
}

/**
 * Keeps one control connection open for as long as it lives: reopens it with backoff, tells when
 * it is up and down, and runs commands meanwhile over a short-lived connection of their own, so
 * that a caller needs to know neither. It never starts or stops a server.
 */
import type { Clock } from '../async/clock.ts'
import { Scope } from '../async/scope.ts'
import { SignalLatch } from '../async/signal-latch.ts'
import { Emitter } from '../lib/emitter.ts'
import type { Log } from '../lib/log.ts'
import type { ServerAddress } from './address.ts'
import {
  type ConnectionOptions,
  connectionLimits,
  type OpenOutcome,
  openConnection,
  type TmuxConnection,
} from './connection.ts'
import type { ControlNotification } from './control-parser.ts'
import type { ClosedReason, Runner, RunOptions, RunOutcome } from './runner.ts'
import type { BufferEncoding } from './show-buffer.ts'

export const linkLimits = {
  retryFirstMs: 50,
  retryLastMs: 5_000,
  /**
   * Short-lived connections at the same time; further commands wait for one to end. One, and none while the lasting one
   * is being opened: tmux 3.3a dies (SIGSEGV in control_write) when anything that is told to control clients, as a mode
   * that is left or a window that is renamed, happens while one of them has sent its flags and not yet all of its
   * identity. What we do ourselves must not meet what we open ourselves.
   * Source: control-notify.c (CONTROL_SHOULD_NOTIFY_CLIENT looks at the flag only), server-client.c (control_start at
   * MSG_IDENTIFY_DONE).
   */
  fallbackConcurrencyMax: 1,
  fallbackWaitingMax: 256,
} as const

export type LinkEvent =
  | { readonly kind: 'up' }
  /** The connection ended. `reason` is the first sign of a server's death; the link tries on. */
  | { readonly kind: 'down'; readonly reason: ClosedReason }
  | { readonly kind: 'retry-failed'; readonly detail: string; readonly why: string }
  | { readonly kind: 'notification'; readonly notification: ControlNotification }

export type LinkOptions = { readonly clock: Clock; readonly address: ServerAddress; readonly log: Log }

export class TmuxLink implements Runner, AsyncDisposable {
  readonly #options: ConnectionOptions
  readonly #scope: Scope
  readonly #events: Emitter<LinkEvent>
  readonly #wake = new SignalLatch()
  #connection: TmuxConnection | undefined
  /** Connections whose client process may still be there: one whose session was taken away can hang after its end. */
  readonly #clients = new Set<TmuxConnection>()
  #encoding: BufferEncoding = 'raw'
  #fallbacks = 0
  readonly #waiting: (() => void)[] = []
  readonly onEvent: (listener: (event: LinkEvent) => void) => Disposable

  private constructor(options: LinkOptions) {
    const { clock, address, log } = options
    const onListenerError = (error: unknown) => log.write('error', 'tmux listener failed', { error: String(error) })
    this.#options = { clock, address, onListenerError }
    this.#events = new Emitter(onListenerError)
    this.onEvent = this.#events.on
    this.#scope = new Scope(clock, (name, error) =>
      log.write('error', 'tmux link loop crashed', { name, error: String(error) }),
    )
  }

  /** Tries once to connect, then keeps trying in the background; `first` tells how the first attempt ended. Owns: dispose the link. */
  static async open(options: LinkOptions): Promise<{ readonly link: TmuxLink; readonly first: OpenOutcome }> {
    const link = new TmuxLink(options)
    const first = await openConnection(link.#options)
    if (first.kind === 'open') link.#take(first.connection)
    link.#scope.spawn('tmux connection', (signal) => link.#keep(signal))
    return { link, first }
  }

  get isUp(): boolean {
    return this.#connection?.isOpen === true
  }

  /** As of the last connection. */
  get bufferEncoding(): BufferEncoding {
    return this.#encoding
  }

  /** Tries to reconnect at once instead of at the end of the backoff. */
  retryNow(): void {
    this.#wake.raise()
  }

  async run(line: string, options: RunOptions = {}): Promise<RunOutcome> {
    if (this.#connection?.isOpen === true) return this.#connection.run(line, options)
    return this.#runAlone(line, options)
  }

  /** Ends the process of the connection without a word, and connects anew: it may hold up a server that wants to end. */
  dropConnection(why: string): void {
    this.#connection?.abandon(why)
  }

  /** Ends the connection and stops trying. Needed before the server is stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#scope[Symbol.asyncDispose]()
    this.#wake.raise()
    await Promise.all([...this.#clients].map((connection) => connection.close()))
    await ended
  }

  async #runAlone(line: string, options: RunOptions): Promise<RunOutcome> {
    const pending = this.#waiting.length
    if (pending >= linkLimits.fallbackWaitingMax) return { kind: 'overloaded', pending }
    await this.#acquire('push')
    try {
      // Up again meanwhile.
      if (this.#connection?.isOpen === true) return await this.#connection.run(line, options)
      const opened = await openConnection(this.#options)
      if (opened.kind === 'not-open') {
        const { why, detail } = opened
        if (why === 'timed-out') return { kind: 'timed-out', waitedMs: connectionLimits.openTimeoutMs, what: 'attach' }
        return { kind: 'closed', reason: { kind: 'lost', detail } }
      }
      await using connection = opened.connection
      this.#encoding = connection.bufferEncoding
      return await connection.run(line, options)
    } finally {
      this.#release()
    }
  }

  /** Waits until nothing of ours is being opened or done beside the lasting connection. Owns: `#release` it. */
  async #acquire(place: 'push' | 'unshift'): Promise<void> {
    while (this.#fallbacks >= linkLimits.fallbackConcurrencyMax) {
      await new Promise<void>((resolve) => this.#waiting[place](resolve))
      if (place === 'push' && this.#connection?.isOpen === true) break
    }
    this.#fallbacks++
  }

  #release(): void {
    this.#fallbacks--
    this.#waiting.shift()?.()
  }

  #take(connection: TmuxConnection): void {
    this.#connection = connection
    this.#clients.add(connection)
    void connection.gone.then(() => this.#clients.delete(connection))
    this.#encoding = connection.bufferEncoding
    connection.onNotification((notification) => this.#events.emit({ kind: 'notification', notification }))
    this.#events.emit({ kind: 'up' })
  }

  async #keep(signal: AbortSignal): Promise<void> {
    let retryMs: number = linkLimits.retryFirstMs
    while (!signal.aborted) {
      if (this.#connection !== undefined) {
        const reason = await this.#connection.closed
        this.#connection = undefined
        if (signal.aborted) return
        retryMs = linkLimits.retryFirstMs
        this.#events.emit({ kind: 'down', reason })
      }
      if (await this.#wake.wait(this.#options.clock, retryMs, signal)) retryMs = linkLimits.retryFirstMs
      if (signal.aborted) return
      // Before those that wait: they then use what is opened here.
      await this.#acquire('unshift')
      try {
        if (signal.aborted) return
        const opened = await openConnection(this.#options)
        // Closed meanwhile: nobody would end what was just opened.
        if (signal.aborted) {
          if (opened.kind === 'open') await opened.connection.close()
          return
        }
        if (opened.kind === 'open') this.#take(opened.connection)
        else {
          this.#events.emit({ kind: 'retry-failed', why: opened.why, detail: opened.detail })
          retryMs = Math.min(retryMs * 2, linkLimits.retryLastMs)
        }
      } finally {
        this.#release()
      }
    }
  }
}

/**
 * The HTTP API of a running opencode: requests with a deadline each, and the event stream. A request that reaches the
 * program while it starts may be accepted and never answered, so no wait here is without an end.
 */
import type { Clock } from '../../async/clock.ts'
import { DeadlineError, deadlineSignal } from '../../async/wait.ts'
import { parseJson } from '../fields.ts'
import { EventStreamParser } from './event-stream.ts'
import { serverUser } from './launch.ts'

export type ApiOptions = {
  readonly port: number
  readonly password: string
  readonly clock: Clock
}

export type ApiOutcome =
  | { readonly kind: 'ok'; readonly body: unknown }
  /** `isLate`: it did not answer in time, and may answer the next request. */
  | { readonly kind: 'failed'; readonly why: string; readonly isLate?: true }

/** For one request and its whole answer. */
export const requestLimitMs = 3_000
/** The program sends a heartbeat every 10 s. */
export const streamSilenceMs = 35_000

export class OpencodeApi {
  readonly #options: ApiOptions
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: ApiOptions) {
    this.#options = options
    this.#base = `http://127.0.0.1:${options.port}`
    const credentials = Buffer.from(`${serverUser}:${options.password}`).toString('base64')
    this.#headers = { authorization: `Basic ${credentials}` }
  }

  get(path: string, signal: AbortSignal): Promise<ApiOutcome> {
    return this.#request(path, undefined, signal)
  }

  post(path: string, body: object, signal: AbortSignal): Promise<ApiOutcome> {
    return this.#request(path, body, signal)
  }

  /** Errors: the signal's reason when it aborts; everything else is an outcome. */
  async #request(path: string, body: object | undefined, signal: AbortSignal): Promise<ApiOutcome> {
    using limit = deadlineSignal(this.#options.clock, requestLimitMs, `opencode to answer ${path}`, signal)
    const init =
      body === undefined
        ? { method: 'GET', headers: this.#headers }
        : {
            method: 'POST',
            headers: { ...this.#headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }
    try {
      const response = await fetch(`${this.#base}${path}`, { ...init, signal: limit.signal })
      const text = await response.text()
      if (!response.ok) return { kind: 'failed', why: `${path} answered ${response.status}` }
      return { kind: 'ok', body: parseJson(text) }
    } catch (error) {
      signal.throwIfAborted()
      if (!isNetworkFault(error)) throw error
      const why = describeFault(error)
      return error instanceof DeadlineError ? { kind: 'failed', why, isLate: true } : { kind: 'failed', why }
    }
  }

  /**
   * Follows `GET /event` until it ends or `signal` aborts: `onOpen` once it is subscribed, then `onData` with the data of
   * each frame; a frame that comes meanwhile waits. Returns why it ended. Errors: those of the callbacks; the signal's reason.
   */
  async follow(
    handlers: { readonly onOpen: () => Promise<void>; readonly onData: (data: string) => void },
    signal: AbortSignal,
  ): Promise<string> {
    const { clock } = this.#options
    const silence = new AbortController()
    const both = AbortSignal.any([signal, silence.signal])
    const restart = (limitMs: number) =>
      clock.after(limitMs, () => silence.abort(new DeadlineError('an event of opencode', limitMs)))
    let timer = restart(requestLimitMs)
    try {
      const response = await fetch(`${this.#base}/event`, { headers: this.#headers, signal: both })
      if (!response.ok || response.body === null) return `/event answered ${response.status}`
      const parser = new EventStreamParser()
      let isOpen = false
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
        timer[Symbol.dispose]()
        timer = restart(streamSilenceMs)
        const frames = parser.feed(text)
        // The first frame says that the subscription stands.
        if (!isOpen && frames.length > 0) await handlers.onOpen()
        isOpen ||= frames.length > 0
        for (const data of frames) handlers.onData(data)
      }
      return 'the stream ended'
    } catch (error) {
      signal.throwIfAborted()
      if (isNetworkFault(error)) return describeFault(error)
      throw error
    } finally {
      timer[Symbol.dispose]()
      silence.abort(new Error('no longer followed'))
    }
  }
}

/** fetch reports refused and broken connections as TypeError, with the system's error as cause. */
function isNetworkFault(error: unknown): boolean {
  return error instanceof DeadlineError || (error instanceof TypeError && error.cause !== undefined) || isAbort(error)
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

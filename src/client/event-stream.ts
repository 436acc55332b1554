/**
 * The events of a server as one endless sequence: reconnects by itself from the last seq it gave out, so that none is
 * missed and none comes twice; what the server no longer has comes as an explicit gap.
 */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { fromErrorBody } from '../protocol/error-body.ts'
import type { EventBody, StreamFrame } from '../protocol/event.ts'
import { paths } from '../protocol/paths.ts'
import { type SseFrame, SseParser } from './sse.ts'
import type { Transport } from './transport.ts'

const firstBackoffMs = 100
const backoffMaxMs = 5_000
/** Three missed heartbeats: the connection is dead without having said so. Units: ms. */
const silenceMaxMs = 45_000

export type StreamOptions = {
  /** Seq that the reader knows already; undefined: from now on. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Told when the server is away (with the fault) and when it is back; the stream goes on by itself. */
  readonly onConnection?: (state: 'connected' | 'lost', error?: AppError) => void
}

/** Frames until `signal` aborts. Errors: what the server refused (401, 403); the first connection's SERVER_UNREACHABLE. */
export async function* streamEvents(
  transport: Transport,
  clock: Clock,
  options: StreamOptions = {},
): AsyncGenerator<StreamFrame, void> {
  const { signal } = options
  let after = options.after
  let backoffMs = firstBackoffMs
  let wasConnected = false
  while (!signal?.aborted) {
    try {
      const answer = await connect(transport, after, signal)
      wasConnected = true
      options.onConnection?.('connected')
      for await (const frame of readFrames(answer, clock, after ?? 0)) {
        backoffMs = firstBackoffMs
        after = frame.kind === 'event' ? frame.event.seq : frame.kind === 'gap' ? frame.seq : (after ?? frame.seq)
        yield frame
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isRoadFault(error) || !wasConnected) throw error
      options.onConnection?.('lost', error)
    }
    if (signal?.aborted) return
    await sleep(clock, backoffMs, signal).catch(() => undefined)
    backoffMs = Math.min(backoffMs * 2, backoffMaxMs)
  }
}

const isRoadFault = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'SERVER_UNREACHABLE' || error.code === 'TIMEOUT')

async function connect(
  transport: Transport,
  after: number | undefined,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const headers = { accept: 'text/event-stream' }
  const answer = await transport.open({
    method: 'GET',
    path: paths.events(),
    query: { after },
    headers,
    signal,
    timeoutMs: 10_000,
    isStream: true,
  })
  if (answer.statusCode === 200) return answer
  let text = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) text += chunk
  throw fromErrorBody(answer.statusCode ?? 0, tryParse(text))
}

async function* readFrames(answer: IncomingMessage, clock: Clock, after: number): AsyncGenerator<StreamFrame, void> {
  const parser = new SseParser()
  const watch = () => clock.after(silenceMaxMs, () => answer.destroy())
  let timer = watch()
  try {
    for await (const bytes of answer as AsyncIterable<Buffer>) {
      timer[Symbol.dispose]()
      timer = watch()
      for (const frame of parser.push(bytes)) {
        const known = toStreamFrame(frame, after)
        if (known !== undefined) yield known
      }
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new AppError('SERVER_UNREACHABLE', 'the event stream of the CAO server broke off', { cause: error })
  } finally {
    timer[Symbol.dispose]()
    answer.destroy()
  }
}

function toStreamFrame(frame: SseFrame, after: number): StreamFrame | undefined {
  const value = tryParse(frame.data)
  if (typeof value !== 'object' || value === null || !('seq' in value) || typeof value.seq !== 'number')
    return undefined
  if (frame.event === 'snapshot') return { kind: 'snapshot', seq: value.seq }
  if (frame.event === 'gap') return { kind: 'gap', after, seq: value.seq }
  return { kind: 'event', event: value as EventBody }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

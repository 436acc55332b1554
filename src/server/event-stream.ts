/**
 * The event stream of one reader: first a `snapshot` frame with the seq up to which it is informed once it has taken the
 * events it missed, or a `gap` when they are gone; then every event, its seq as the frame's id. A reader that does not keep
 * up is cut off after `bufferedFramesMax` frames, and resumes from the last id it has: slow, but never silently wrong.
 */
import type { App } from '../app/app.ts'
import type { Clock } from '../async/clock.ts'
import { toEventBody } from '../protocol/event.ts'

export const heartbeatMs = 15_000
export const bufferedFramesMax = 2_000

export type FrameFields = { readonly id?: number; readonly event?: string; readonly value: unknown }

/** One frame as text. Source: HTML standard, 9.2.6; JSON has no raw line ends, so one data line is enough. */
export function formatFrame({ id, event, value }: FrameFields): string {
  const named = event === undefined ? '' : `event: ${event}\n`
  const numbered = id === undefined ? '' : `id: ${id}\n`
  return `${named}${numbered}data: ${JSON.stringify(value)}\n\n`
}

export type StreamServices = {
  readonly app: Pick<App, 'subscribe' | 'lastEventSeq'>
  readonly clock: Clock
  readonly closing: AbortSignal
}

/** Owns: its subscription, until the reader leaves, falls behind, or the server closes. */
export function createEventStream(services: StreamServices, after: number | undefined): ReadableStream<Uint8Array> {
  const { app, clock, closing } = services
  const encoder = new TextEncoder()
  const owned = new DisposableStack()
  const release = () => owned.dispose()

  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const end = () => {
      if (owned.disposed) return
      release()
      controller.close()
    }
    const send = (text: string) => {
      if (owned.disposed) return
      if ((controller.desiredSize ?? 0) <= 0) return end()
      controller.enqueue(encoder.encode(text))
    }
    const beat = () => {
      send(': still here\n\n')
      if (!owned.disposed) heartbeat = clock.after(heartbeatMs, beat)
    }
    let heartbeat = clock.after(heartbeatMs, beat)
    owned.defer(() => heartbeat[Symbol.dispose]())
    closing.addEventListener('abort', end)
    owned.defer(() => closing.removeEventListener('abort', end))

    // A seq from the future belongs to another history: everything must be loaded again.
    const isForeign = after !== undefined && after > app.lastEventSeq()
    const subscription = app.subscribe(isForeign ? undefined : after, (event) =>
      send(formatFrame({ id: event.seq, value: toEventBody(event) })),
    )
    owned.use(subscription)
    const { fromSeq: seq, missed } = subscription
    const hasGap = isForeign || missed === undefined
    const backlog = hasGap ? [] : missed
    // The id of the first frame moves a resuming reader forward, so it waits until the backlog is through.
    const at = backlog.length === 0 ? { id: seq } : {}
    send(formatFrame({ ...at, event: hasGap ? 'gap' : 'snapshot', value: { seq } }))
    for (const event of backlog) send(formatFrame({ id: event.seq, value: toEventBody(event) }))
    if (closing.aborted) end()
  }
  return new ReadableStream({ start, cancel: release }, { highWaterMark: bufferedFramesMax })
}

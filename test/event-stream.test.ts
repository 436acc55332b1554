/**
 * Events on their whole way: a real store, the real stream over it, both ends of a real socket. What must hold: a reader
 * gets every event once, in order, across reconnects and restarts, or is told of a gap.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EventStream } from '../src/app/event-stream.ts'
import { ManualClock } from '../src/async/clock-manual.ts'
import { systemClock } from '../src/async/clock-system.ts'
import { createClient } from '../src/client/client.ts'
import { AppError } from '../src/domain/errors.ts'
import type { SessionName } from '../src/domain/ids.ts'
import { silentLog } from '../src/lib/log.ts'
import type { StreamFrame } from '../src/protocol/event.ts'
import type { HttpEnv } from '../src/server/context.ts'
import { bufferedFramesMax, createEventStream, heartbeatMs, type StreamServices } from '../src/server/event-stream.ts'
import { listen } from '../src/server/listen.ts'
import { openStore } from '../src/store/sqlite/open.ts'
import type { Store } from '../src/store/store.ts'

let dir: string
let store: Store
let events: EventStream
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-events-'))
  store = openStore({ path: join(dir, 'cao.db') })
  events = new EventStream(store, silentLog)
})
afterEach(async () => {
  store[Symbol.dispose]()
  await rm(dir, { recursive: true })
})

const tell = (name: string) => events.append({ type: 'session.created', sessionName: name as SessionName }, 0)
const source = () => ({
  subscribe: (...args: Parameters<EventStream['subscribe']>) => events.subscribe(...args),
  lastEventSeq: () => store.events.lastSeq(),
})
const socketPath = () => join(dir, 's')

/** A server that is only its event route. */
async function serveEvents() {
  const closing = new AbortController()
  const services: StreamServices = { app: source(), clock: systemClock, closing: closing.signal }
  const router = new Hono<HttpEnv>()
  router.get('/events', (c) => {
    const after = c.req.query('after')
    return c.body(createEventStream(services, after === undefined ? undefined : Number(after)), 200, {
      'content-type': 'text/event-stream',
    })
  })
  const doors = await listen({ router, clock: systemClock, log: silentLog, socketPath: socketPath(), tcp: undefined })
  return {
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('stopping'))
      await doors[Symbol.asyncDispose]()
    },
  }
}

/** Collects frames until `count` are there. */
function collect(after: number | undefined, count: number): Promise<readonly StreamFrame[]> {
  const stop = new AbortController()
  const stream = createClient({ socketPath: socketPath() }).streamEvents({ after, signal: stop.signal })
  return (async () => {
    const frames: StreamFrame[] = []
    for await (const frame of stream) {
      frames.push(frame)
      if (frames.length === count) break
    }
    stop.abort(new Error('enough'))
    return frames
  })()
}

const brief = (frames: readonly StreamFrame[]) =>
  frames.map((frame) => (frame.kind === 'event' ? frame.event.seq : `${frame.kind} ${frame.seq}`))

test('a new reader is told where it stands and then of every later event', async () => {
  tell('cao-old')
  await using _server = await serveEvents()
  const got = collect(undefined, 3)
  await new Promise((resolve) => setTimeout(resolve, 100))
  tell('cao-a')
  tell('cao-b')
  expect(await got).toEqual([
    { kind: 'snapshot', seq: 1 },
    {
      kind: 'event',
      event: { type: 'session.created', session_name: 'cao-a', seq: 2, at: '1970-01-01T00:00:00.000Z' },
    },
    {
      kind: 'event',
      event: { type: 'session.created', session_name: 'cao-b', seq: 3, at: '1970-01-01T00:00:00.000Z' },
    },
  ])
})

test('a reader that was away gets what it missed, once and in order, and then what comes', async () => {
  for (const name of ['cao-1', 'cao-2', 'cao-3']) tell(name)
  await using _server = await serveEvents()
  const got = collect(1, 4)
  await new Promise((resolve) => setTimeout(resolve, 100))
  tell('cao-4')
  expect(brief(await got)).toEqual(['snapshot 3', 2, 3, 4])
})

test('a reader goes on by itself after the server was restarted, without a hole and without a repeat', async () => {
  tell('cao-1')
  const first = await serveEvents()
  const got = collect(0, 6)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await first[Symbol.asyncDispose]()
  tell('cao-2')
  tell('cao-3')
  await using _second = await serveEvents()
  await new Promise((resolve) => setTimeout(resolve, 400))
  tell('cao-4')
  expect(brief(await got)).toEqual(['snapshot 1', 1, 'snapshot 3', 2, 3, 4])
})

test('events that are gone are an explicit gap, and so is a seq of another history', async () => {
  for (let i = 0; i < 5; i++) tell(`cao-${i}`)
  store.events.trim(2)
  await using _server = await serveEvents()
  expect(await collect(1, 1)).toEqual([{ kind: 'gap', after: 1, seq: 5 }])
  expect(await collect(99, 1)).toEqual([{ kind: 'gap', after: 99, seq: 5 }])
})

test('a first connection to nobody is a fault that says what to do', async () => {
  const error = await collect(0, 1).catch((fault: unknown) => fault)
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: `no CAO server answers at ${socketPath()}: start one with "cao server start"`,
  })
})

test('the first frame moves a reader forward only when nothing stands behind it', async () => {
  for (const name of ['cao-1', 'cao-2', 'cao-3']) tell(name)
  const firstFrame = async (after: number) => {
    const closing = new AbortController()
    const services = { app: source(), clock: systemClock, closing: closing.signal }
    const reader = createEventStream(services, after).getReader()
    const text = Buffer.from((await reader.read()).value ?? []).toString()
    await reader.cancel()
    return text
  }
  // A reader that is cut off after the first frame resumes from its id: it must not skip what it has not got.
  expect(await firstFrame(1)).toBe('event: snapshot\ndata: {"seq":3}\n\n')
  expect(await firstFrame(3)).toBe('event: snapshot\nid: 3\ndata: {"seq":3}\n\n')
  expect(await firstFrame(9)).toBe('event: gap\nid: 3\ndata: {"seq":3}\n\n')
})

test('a silent stream beats, so that a dead connection is told from a quiet one', async () => {
  const clock = new ManualClock()
  const stream = createEventStream({ app: source(), clock, closing: new AbortController().signal }, undefined)
  const reader = stream.getReader()
  await clock.advance(heartbeatMs)
  const text = async () => Buffer.from((await reader.read()).value ?? []).toString()
  expect([await text(), await text()]).toEqual(['event: snapshot\nid: 0\ndata: {"seq":0}\n\n', ': still here\n\n'])
  await reader.cancel()
  expect(clock.timerCount).toBe(0)
})

test('a reader that does not read is cut off at a limit instead of filling the memory', async () => {
  const clock = new ManualClock()
  const stream = createEventStream({ app: source(), clock, closing: new AbortController().signal }, undefined)
  // In one transaction: what is tested is the reader, not the disk.
  const body = { type: 'session.created', sessionName: 'cao-x' as SessionName } as const
  const told = store.transaction(() =>
    Array.from({ length: bufferedFramesMax + 10 }, () => store.events.append(body, 0)),
  )
  for (const event of told) events.announce(event)
  let frames = 0
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    expect(chunk.length).toBeGreaterThan(0)
    frames++
  }
  expect(frames).toBe(bufferedFramesMax)
  expect(clock.timerCount).toBe(0)
})

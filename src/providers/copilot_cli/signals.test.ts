/** The channels on real files, as the program writes them. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { Signal } from '../provider.ts'
import { eventsPath } from './event-file.ts'
import { CopilotSignals } from './signals.ts'

const limitMs = 10_000
const token = '7f3a12345678' as MessageToken
const waiting = () => ({ signal: AbortSignal.timeout(limitMs) })
let folder: string
let signals: CopilotSignals
let heard: Signal[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-copilot-signals-'))
  heard = []
  signals = new CopilotSignals({
    terminalId: trustId('1a2b3c4d'),
    cwd: '/home/dev/proj',
    privateDir: folder,
    binding: { configDir: folder, vendorSessionId: 'c1', eventsOffset: 0 },
    clock: systemClock,
    log: silentLog,
    emit: (signal) => heard.push(signal),
  })
})
afterEach(async () => {
  await signals[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const path = () => eventsPath(folder, 'c1')
function record(...events: readonly (readonly [string, object])[]): void {
  mkdirSync(dirname(path()), { recursive: true })
  const line = ([type, data]: readonly [string, object]) =>
    `${JSON.stringify({ type, data, timestamp: '2026-12-01T00:00:00.000Z' })}\n`
  appendFileSync(path(), events.map(line).join(''))
}
const prompt = (content: string) => ['user.message', { content }] as const
const answer = (content: string) =>
  [
    ['assistant.turn_start', {}],
    ['assistant.message', { content, toolRequests: [] }],
    ['assistant.turn_end', {}],
  ] as const
const submit = (text: string) =>
  signals.handleHook({ name: 'userPromptSubmitted', payload: { sessionId: 'c1', prompt: text }, file: 'x', atMs: 1 })

const told = () =>
  heard.flatMap((signal) => {
    if (signal.kind === 'bound') return []
    if (signal.kind === 'accepted') return ['accepted']
    const outcome = signal.claim.kind === 'turn_ended' ? ` ${signal.claim.outcome}` : ''
    return [`${signal.source} ${signal.claim.kind}${outcome}`]
  })
async function waitFor(what: string): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!told().includes(what)) {
    if (performance.now() > endMs) throw new Error(`waited for "${what}", heard ${told().join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

it('passes a prompt on once, whoever tells of it first, and the end with its answer', async () => {
  submit('reply hi')
  record(prompt('reply hi'), ...answer('hi'))
  await waitFor('transcript turn_ended answered')
  expect(told()).toEqual(['accepted', 'hook turn_started', 'transcript turn_started', 'transcript turn_ended answered'])
  expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'exact', text: 'hi' })
})

it.each([
  ['abort', { reason: 'user_initiated' }, ['transcript turn_ended interrupted']],
  [
    'session.error',
    { errorType: 'rate_limit', message: 'slow down', statusCode: 429 },
    ['transcript failed', 'transcript turn_ended failed'],
  ],
])('tells of an end by "%s"', async (type, data, tells) => {
  record(prompt('hang'), ['assistant.turn_start', {}], ['assistant.turn_end', {}], [type, data])
  await waitFor(tells.at(-1) ?? '')
  expect(told().slice(2)).toEqual(tells)
  expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'none' })
})

it('takes a prompt that was taken out of the record again for an interrupted turn', async () => {
  record(prompt('first'), ...answer('one'))
  await waitFor('transcript turn_ended answered')
  const { length } = told()
  record(prompt('hang'))
  await waitFor('transcript turn_started')
  while (told().length < length + 2) await new Promise((resolve) => setTimeout(resolve, 10))
  truncateSync(path(), 40)
  await waitFor('transcript turn_ended interrupted')
})

it('closes a question that was answered, and finds a message by its token', async () => {
  expect(await signals.findAccepted(token, waiting())).toBe('no')
  record(prompt(`[cao assign ${token} from user]\nask`), ['permission.completed', { result: { kind: 'approved' } }])
  await waitFor('transcript question_closed')
  expect(await signals.findAccepted(token, waiting())).toBe('yes')
})

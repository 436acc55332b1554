/** The channels on real files, as the program writes them. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { Signal } from '../provider.ts'
import { KimiSignals } from './signals.ts'

const limitMs = 10_000
const token = '7f3a12345678' as MessageToken
const waiting = () => ({ signal: AbortSignal.timeout(limitMs) })
let folder: string
let signals: KimiSignals
let heard: Signal[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-kimi-signals-'))
  heard = []
  signals = open(null)
})
afterEach(async () => {
  await signals[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const open = (vendorSessionId: string | null) =>
  new KimiSignals({
    terminalId: trustId('1a2b3c4d'),
    cwd: '/home/dev/proj',
    privateDir: folder,
    binding: { homeDir: folder, vendorSessionId },
    clock: systemClock,
    log: silentLog,
    emit: (signal) => heard.push(signal),
  })
const hook = (name: string, payload: object = {}) =>
  signals.handleHook({ name, payload: { session_id: 's1', ...payload }, file: `${name}.json`, atMs: 1 })
const submit = (text: string, isSteering = false) =>
  hook('UserPromptSubmit', { prompt: [{ type: 'text', text }], is_steer: isSteering })

function record(...lines: readonly object[]): void {
  const dir = join(folder, 'sessions', 'wd_x', 's1', 'agents', 'main')
  mkdirSync(dir, { recursive: true })
  appendFileSync(join(dir, 'wire.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
const prompt = (text: string) => ({ type: 'turn.prompt', input: [{ type: 'text', text }], origin: { kind: 'user' } })
const said = (text: string) => ({
  type: 'context.append_loop_event',
  event: { type: 'content.part', part: { type: 'text', text } },
})
const ended = (reason: string, more: object = {}) => ({ type: 'turn.ended', reason, durationMs: 5, ...more })

const told = () =>
  heard.flatMap((signal) => {
    if (signal.kind !== 'claim') return [signal.kind]
    return [signal.claim.kind === 'turn_ended' ? `turn_ended ${signal.claim.outcome}` : signal.claim.kind]
  })
async function waitFor(what: string): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!told().includes(what)) {
    if (performance.now() > endMs) throw new Error(`waited for "${what}", heard ${told().join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

it('waits for the record to say what an end was, and gives its answer', async () => {
  submit('reply hi')
  hook('Stop')
  record(prompt('reply hi'), said('hi'), ended('completed'))
  await waitFor('turn_ended answered')
  expect(told()).toEqual(['bound', 'accepted', 'turn_started', 'turn_ended answered'])
  expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'exact', text: 'hi', cost: { durationMs: 5 } })
})

it('does not take the end of a sub-agent for that of the agent', async () => {
  submit('call Agent')
  record(prompt('call Agent'))
  hook('Stop')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(told()).not.toContain('turn_ended answered')
  record(said('It is counted.'), ended('completed'))
  hook('Stop')
  await waitFor('turn_ended answered')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(told().filter((what) => what.startsWith('turn_ended'))).toHaveLength(1)
})

it.each([
  ['cancelled', {}, ['turn_ended interrupted']],
  ['failed', { error: { name: 'APIStatusError', message: '400 no' } }, ['failed', 'turn_ended failed']],
])('tells of a turn that was %s', async (reason, more, tells) => {
  submit('hang')
  record(prompt('hang'), ended(reason, more))
  hook(reason === 'failed' ? 'StopFailure' : 'Interrupt')
  await waitFor(tells.at(-1) ?? '')
  expect(told().slice(3)).toEqual(tells)
  expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'none' })
})

it('a steering prompt is taken and begins no turn; an answered permission closes its question', () => {
  submit('more', true)
  hook('PermissionResult')
  expect(told()).toEqual(['bound', 'accepted', 'question_closed'])
})

it('finds a message in the record, and knows when it lags behind', async () => {
  expect(await signals.findAccepted(token, waiting())).toBe('no')
  submit('first')
  expect(await signals.findAccepted(token, waiting())).toBe('unknown')
  record(prompt('first'))
  expect(await signals.findAccepted(token, waiting())).toBe('no')
  record(prompt(`[cao assign ${token} from user]\nsecond`))
  expect(await signals.findAccepted(token, waiting())).toBe('yes')
})

it('tells of the end of a turn in which it was taken up', async () => {
  await signals[Symbol.asyncDispose]()
  record(prompt('slow'), said('done'), ended('completed'))
  signals = open('s1')
  hook('Stop')
  await waitFor('turn_ended answered')
  expect(told()).toEqual(['turn_ended answered'])
})

it('drops what it can not read', () => {
  signals.handleHook({ name: 'Stop', payload: 'odd', file: 'x', atMs: 1 })
  hook('Unknown')
  expect(told()).toEqual([])
})

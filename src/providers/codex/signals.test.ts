/** The channels on real files, as the program writes them, and marks as it prints them. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { Signal } from '../provider.ts'
import { CodexSignals } from './signals.ts'

const limitMs = 10_000
const token = '7f3a12345678' as MessageToken
const waiting = (ms = limitMs) => ({ signal: AbortSignal.timeout(ms) })
// Ids begin with their time: 2026-12-01, and an hour later.
const first = '01a22f28-ada2-79c0-a82d-6c49ec2d8cd9'
const second = '01a22f5f-9be2-79c0-a82d-6c49ec2d8cd9'

describe('CodexSignals', () => {
  let folder: string
  let signals: CodexSignals
  let heard: Signal[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-codex-signals-'))
    heard = []
    signals = open({ configDir: folder, vendorSessionId: null, rolloutOffset: 0 })
  })
  afterEach(async () => {
    await signals[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (binding: Readonly<Record<string, string | number | null>>) =>
    new CodexSignals({
      terminalId: trustId('1a2b3c4d'),
      cwd: '/home/dev/proj',
      privateDir: folder,
      binding,
      clock: systemClock,
      log: silentLog,
      emit: (signal) => heard.push(signal),
    })

  const print = (text: string) => signals.handleOutput(Buffer.from(text))
  const show = (id: string) => print(`\u001b]0;proj | ${id.slice(0, 29)}...\u0007`)
  const mark = (state: string) => print(`\u001b]7501;state=${state}:app=codex\u001b\\`)

  let seconds = 0
  function write(id: string, ...payloads: readonly object[]): void {
    const dir = join(folder, 'sessions', '2026', '12', '01')
    mkdirSync(dir, { recursive: true })
    const lines = payloads.map((payload) => {
      const timestamp = new Date(Date.UTC(2026, 11, 1, 1, 0, seconds++)).toISOString()
      return `${JSON.stringify({ timestamp, type: 'event_msg', payload })}\n`
    })
    appendFileSync(join(dir, `rollout-2026-12-01T01-12-17-${id}.jsonl`), lines.join(''))
  }
  const item = (type: string, text: string) => ({ type: 'item_completed', item: { type, content: [{ text }] } })
  const begin = (text: string) => [{ type: 'task_started', turn_id: 't' }, item('UserMessage', text)]
  const end = (text: string) => [item('AgentMessage', text), { type: 'task_complete', turn_id: 't', duration_ms: 5 }]

  const told = () =>
    heard.flatMap((signal) => {
      if (signal.kind === 'bound') return []
      if (signal.kind === 'accepted') return [`accepted ${signal.text}`]
      const outcome = signal.claim.kind === 'turn_ended' ? ` ${signal.claim.outcome}` : ''
      return [`${signal.source} ${signal.claim.kind}${outcome}`]
    })
  const bound = () => heard.flatMap((signal) => (signal.kind === 'bound' ? [signal.binding] : []))
  async function waitFor(what: string): Promise<void> {
    const endMs = performance.now() + limitMs
    while (!told().includes(what)) {
      if (performance.now() > endMs) throw new Error(`waited for "${what}", heard ${told().join(', ')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  it('finds the record of the conversation in the title, and tells a turn from it, once', async () => {
    mark('working')
    show(first)
    mark('idle')
    mark('working')
    write(first, ...begin('do it'))
    await waitFor('accepted do it')
    write(first, ...end('Done.'))
    mark('done')
    await waitFor('transcript turn_ended answered')
    mark('idle')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(told()).toEqual(['transcript turn_started', 'accepted do it', 'transcript turn_ended answered'])
    expect(bound().at(-1)).toMatchObject({ vendorSessionId: first })
    const cost = { durationMs: 5, inputTokens: 0, outputTokens: 0 }
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'exact', text: 'Done.', source: 'transcript', cost })
  })

  it('goes on where it stopped when it is opened again, and tells nothing twice', async () => {
    show(first)
    write(first, ...begin('one'), ...end('1'))
    await waitFor('transcript turn_ended answered')
    await signals[Symbol.asyncDispose]()
    write(first, ...begin('two'))
    const binding = bound().at(-1) as Record<string, string | number>
    heard.length = 0
    signals = open(binding)
    await waitFor('accepted two')
    expect(told()).toEqual(['transcript turn_started', 'accepted two'])
  })

  it('says which messages were taken', async () => {
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    show(first)
    write(first, ...begin(`[cao send_message ${token} from user]\nhello`))
    await waitFor('transcript turn_started')
    expect(await signals.findAccepted(token, waiting())).toBe('yes')
    expect(await signals.findAccepted('ffffffffffff' as MessageToken, waiting())).toBe('no')
  })

  it('does not say no while the program works on what its record does not show', async () => {
    show(first)
    write(first, ...begin('one'), ...end('1'))
    mark('working')
    await waitFor('transcript turn_ended answered')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await signals.findAccepted(token, waiting(200))).toBe('unknown')
  })

  it('tells the limit of a plan, and an interruption', async () => {
    show(first)
    const error = { message: 'You have hit your usage limit.', codex_error_info: 'usage_limit_exceeded' }
    write(first, ...begin('one'), { type: 'task_complete', turn_id: 't', error })
    await waitFor('transcript turn_ended failed')
    const failed = heard.flatMap((signal) =>
      signal.kind === 'claim' && signal.claim.kind === 'failed' ? [signal.claim] : [],
    )
    expect(failed).toEqual([{ kind: 'failed', reason: 'rate_limited', detail: error.message }])
    expect(await signals.loadAnswer(waiting(50))).toEqual({ kind: 'none', why: 'the turn has no answer: failed' })
    write(first, ...begin('two'), { type: 'turn_aborted', turn_id: 't', reason: 'interrupted' })
    await waitFor('transcript turn_ended interrupted')
  })

  it('tells by a mark that a question was answered, and that a turn is over whose record has stopped', async () => {
    show(first)
    write(first, ...begin('one'))
    await waitFor('transcript turn_started')
    mark('blocked')
    mark('working')
    await waitFor('title question_closed')
    mark('done')
    await waitFor('title turn_ended answered')
    // The record knows of no end: what it holds is not the answer.
    expect(await signals.loadAnswer(waiting(50))).toMatchObject({ kind: 'none' })
  })

  it('tells that a question was answered by the answer of its turn, where no mark tells in time', async () => {
    show(first)
    write(first, ...begin('one'))
    await waitFor('transcript turn_started')
    mark('blocked')
    await new Promise((resolve) => setTimeout(resolve, 50))
    write(first, ...end('1'))
    await waitFor('transcript turn_ended answered')
    expect(told().slice(-2)).toEqual(['transcript question_closed', 'transcript turn_ended answered'])
  })

  it('follows a person into another conversation, and leaves the past of an older one alone', async () => {
    show(second)
    write(second, ...begin('new'), ...end('1'))
    write(first, ...begin('old'), ...end('2'))
    await waitFor('transcript turn_ended answered')
    heard.length = 0
    show(first)
    await waitForBinding(first.slice(0, 29))
    write(first, ...begin('again'))
    await waitFor('accepted again')
    expect(told()).toEqual(['transcript turn_started', 'accepted again'])
  })
  async function waitForBinding(id: string): Promise<void> {
    const endMs = performance.now() + limitMs
    while (!bound().some((binding) => String(binding['vendorSessionId']).startsWith(id))) {
      if (performance.now() > endMs) throw new Error(`waited for the conversation ${id}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  it('has no answer, and knows of no message, for a terminal that is none of ours', async () => {
    await signals[Symbol.asyncDispose]()
    signals = open({})
    show(first)
    expect(await signals.loadAnswer(waiting(20))).toEqual({ kind: 'none', why: 'there is no record' })
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
  })
})

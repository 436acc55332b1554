/** Hook events and records as the agent writes them. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { MessageToken, TerminalId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { HookEvent, Signal } from '../provider.ts'
import { ScriptedSignals } from './signals.ts'

let folder = ''
let transcript = ''
let heard: Signal[] = []
let signals: ScriptedSignals

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-signals-'))
  transcript = join(folder, 'transcript.jsonl')
  heard = []
  signals = new ScriptedSignals({
    terminalId: '1a2b3c4d' as TerminalId,
    cwd: folder,
    privateDir: folder,
    binding: { vendorSessionId: 'mine', transcript },
    clock: systemClock,
    log: silentLog,
    emit: (signal) => heard.push(signal),
  })
})

afterEach(() => rmSync(folder, { recursive: true }))

const hook = (name: string, payload: unknown): HookEvent => ({ name, payload, file: '1.json', atMs: 5 })
const waiting = (limitMs = 2_000) => ({ signal: AbortSignal.timeout(limitMs) })
const token = '3fa9c2d41b7e' as MessageToken

function write(type: string, turn: string, text: string): void {
  appendFileSync(transcript, `${JSON.stringify({ type, id: `${type}-${turn}`, turn, at: 1, text })}\n`)
}

describe('handleHook', () => {
  test('makes each event the claim that it is', () => {
    const base = { sessionId: 'mine', at: 7 }
    signals.handleHook(hook('PromptAccepted', { ...base, text: 'exact \n text' }))
    signals.handleHook(hook('TurnStarted', base))
    signals.handleHook(hook('QuestionOpened', { ...base, id: 'q', kind: 'permission', text: 'Run?', options: ['Yes'] }))
    signals.handleHook(hook('QuestionClosed', { ...base, id: 'q' }))
    signals.handleHook(hook('TurnEnded', { ...base, outcome: 'answered', answer: 'done' }))
    signals.handleHook(hook('Failed', { ...base, reason: 'rate_limited', detail: 'API error 429' }))
    expect(heard.map((signal) => (signal.kind === 'claim' ? signal.claim : signal))).toEqual([
      { kind: 'accepted', source: 'hook', text: 'exact \n text', atMs: 7, raw: 'PromptAccepted 1.json' },
      { kind: 'turn_started' },
      { kind: 'waiting', reason: 'permission', question: { text: 'Run?', options: ['Yes'], vendorId: 'q' } },
      { kind: 'question_closed' },
      { kind: 'turn_ended', outcome: 'answered', answer: 'done' },
      { kind: 'failed', reason: 'rate_limited', detail: 'API error 429' },
    ])
  })

  test('drops what is of another conversation, unknown, or not as it should be', () => {
    signals.handleHook(hook('TurnStarted', { sessionId: 'other' }))
    signals.handleHook(hook('Novelty', { sessionId: 'mine' }))
    signals.handleHook(hook('TurnEnded', { sessionId: 'mine', outcome: 'odd' }))
    signals.handleHook(hook('PromptAccepted', { sessionId: 'mine' }))
    signals.handleHook(hook('TurnStarted', 'no object'))
    expect(heard).toEqual([])
  })
})

describe('findAccepted', () => {
  test('says yes for a user message, no for another line, unknown without a record', async () => {
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    write('assistant', 'a', `about ${token}`)
    expect(await signals.findAccepted(token, waiting())).toBe('no')
    write('user', 'b', `[cao assign ${token} from 1a2b3c4d]\ngo`)
    expect(await signals.findAccepted(token, waiting())).toBe('yes')
  })
})

describe('loadAnswer', () => {
  test("gives the newest turn's answer, exactly", async () => {
    write('user', 'a', 'one')
    write('assistant', 'a', 'first')
    write('user', 'b', 'two')
    write('assistant', 'b', ' second \n\n')
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'exact', text: ' second \n\n', source: 'transcript' })
  })

  test('waits for a turn whose end is not written yet', async () => {
    write('user', 'a', 'one')
    const answer = signals.loadAnswer(waiting())
    setTimeout(() => write('assistant', 'a', 'late'), 80)
    expect(await answer).toEqual({ kind: 'exact', text: 'late', source: 'transcript' })
  })

  test('gives the answer of the turn that ended, though the next one runs already', async () => {
    write('user', 'a', 'one')
    write('assistant', 'a', 'first')
    signals.handleHook(hook('TurnEnded', { sessionId: 'mine', turn: 'a', outcome: 'answered', answer: 'first' }))
    write('user', 'b', 'two')
    expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'exact', text: 'first' })
  })

  test('has none for an interrupted turn, and none when the wait is over', async () => {
    write('user', 'a', 'one')
    expect(await signals.loadAnswer(waiting(60))).toEqual({ kind: 'none', why: 'no turn has ended' })
    write('interrupted', 'a', 'half')
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'none', why: 'the turn has no answer: interrupted' })
  })

  test('is not misled by a line that is half written', async () => {
    writeFileSync(transcript, `{"type":"user","id":"u","turn":"a","text":"one"}\n{"type":"assistant","id":"x","tur`)
    expect(await signals.loadAnswer(waiting(60))).toMatchObject({ kind: 'none' })
  })
})

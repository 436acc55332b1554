/** The channels on real files, as the program writes them. */
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { Signal } from '../provider.ts'
import { ClaudeSignals } from './signals.ts'

const limitMs = 10_000
const token = '7f3a12345678' as MessageToken
const waiting = (ms = limitMs) => ({ signal: AbortSignal.timeout(ms) })

describe('ClaudeSignals', () => {
  let folder: string
  let signals: ClaudeSignals
  let heard: Signal[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-claude-signals-'))
    heard = []
    signals = open({ vendorSessionId: 'c1', configDir: folder, transcript: null })
  })
  afterEach(async () => {
    await signals[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (binding: Readonly<Record<string, string | null>>) =>
    new ClaudeSignals({
      terminalId: trustId('1a2b3c4d'),
      cwd: '/home/dev/proj',
      privateDir: folder,
      binding,
      clock: systemClock,
      log: silentLog,
      emit: (signal) => heard.push(signal),
    })
  const hook = (name: string, payload: object, atMs = systemClock.nowMs()) =>
    signals.handleHook({ name, payload: { session_id: 'c1', prompt_id: 'p1', ...payload }, file: `${name}.json`, atMs })

  /** As the program does: written beside, then put in place. */
  function writeStatus(status: string, more: object = {}): void {
    const dir = join(folder, 'sessions')
    mkdirSync(dir, { recursive: true })
    const record = { pid: 7, sessionId: 'c1', startedAt: 1, status, statusUpdatedAt: systemClock.nowMs(), ...more }
    writeFileSync(join(dir, '7.tmp'), JSON.stringify(record))
    renameSync(join(dir, '7.tmp'), join(dir, '7.json'))
  }

  const project = () => join(folder, 'projects', '-home-dev-proj')
  function record(...lines: readonly object[]): void {
    mkdirSync(project(), { recursive: true })
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    appendFileSync(join(project(), 'c1.jsonl'), text)
  }
  const prompt = (text: string, promptId = 'p1') => ({ type: 'user', promptId, message: { content: text } })
  const answer = (text: string) => ({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }] } })

  const told = () =>
    heard.flatMap((signal) => {
      if (signal.kind !== 'claim') return [signal.kind]
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

  it('finds the status file when the program makes it, and tells of an interruption that no hook tells', async () => {
    hook('UserPromptSubmit', { prompt: 'slow 20' })
    writeStatus('busy')
    await waitFor('transcript busy')
    record(prompt('slow 20'), answer('alpha'), {
      type: 'user',
      message: { content: [{ type: 'text', text: '[Request interrupted by user]' }] },
    })
    writeStatus('idle')
    await waitFor('transcript turn_ended interrupted')
    expect(told()).toEqual(['accepted', 'hook turn_started', 'transcript busy', 'transcript turn_ended interrupted'])
    expect(await signals.loadAnswer(waiting())).toMatchObject({ kind: 'none' })
  })

  it('takes an end that comes before the first word for an interruption', async () => {
    hook('UserPromptSubmit', { prompt: 'hang' })
    writeStatus('busy')
    await waitFor('transcript busy')
    record(prompt('hang'))
    writeStatus('idle')
    await waitFor('transcript turn_ended interrupted')
  })

  it('does not take the rest before a prompt for the end of what the prompt began', async () => {
    hook('UserPromptSubmit', { prompt: 'first' })
    writeStatus('busy')
    await waitFor('transcript busy')
    record(prompt('first'))
    writeStatus('idle')
    // The file is read, and not yet believed.
    await new Promise((resolve) => setTimeout(resolve, 60))
    hook('UserPromptSubmit', { prompt: 'second' })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(told().filter((each) => each.startsWith('transcript turn_ended'))).toEqual([])
  })

  it('waits for a transcript that lags behind, and does not read the turn before in its place', async () => {
    record(prompt('first', 'p0'), answer('of the first'))
    hook('UserPromptSubmit', { prompt: 'second' })
    writeStatus('busy')
    await waitFor('transcript busy')
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    writeStatus('idle')
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(told()).not.toContain('transcript turn_ended answered')
    record(prompt('second'), {
      type: 'user',
      message: { content: [{ type: 'text', text: '[Request interrupted by user]' }] },
    })
    await waitFor('transcript turn_ended interrupted')
  })

  it('gives the answer that the hook gave, before the transcript holds it', async () => {
    record(prompt('first', 'p0'), answer('of the first'))
    hook('UserPromptSubmit', { prompt: 'second' })
    hook('Stop', { last_assistant_message: 'of the second', background_tasks: [] })
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'exact', text: 'of the second', source: 'hook' })
  })

  it('gives the answer from the transcript after a restart, once the turn has ended', async () => {
    record(prompt('x'), answer('half'))
    expect(await signals.loadAnswer(waiting())).toMatchObject({ text: 'half', source: 'transcript' })
    hook('UserPromptSubmit', { prompt: 'y' })
    expect(await signals.loadAnswer(waiting(100))).toMatchObject({ kind: 'none' })
    record(prompt('y'), answer('as far as it came'))
    expect(await signals.loadAnswer(waiting(100))).toMatchObject({ kind: 'none' })
    expect(await signals.loadAnswer(waiting(), 'newest')).toMatchObject({ text: 'as far as it came' })
  })

  it('finds what was accepted, also in the queue, and not what a tool said', async () => {
    const result = { type: 'user', message: { content: [{ type: 'tool_result', content: `said ${token}` }] } }
    record(prompt('x'), result)
    expect(await signals.findAccepted(token, waiting())).toBe('no')
    record({ type: 'queue-operation', operation: 'enqueue', content: `[cao assign ${token} from 1a2b3c4d]\nreply x` })
    expect(await signals.findAccepted(token, waiting())).toBe('yes')
  })

  it('without a transcript says no only of a program that is there and at rest', async () => {
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    writeStatus('busy')
    expect(await signals.findAccepted(token, waiting())).toBe('unknown')
    writeStatus('idle')
    expect(await signals.findAccepted(token, waiting())).toBe('no')
  })

  it('follows the person into another conversation, and says where its transcript is', async () => {
    hook('SessionStart', { session_id: 'c2', transcript_path: '/t/c2.jsonl', source: 'clear' })
    expect(heard).toEqual([
      { kind: 'bound', binding: { vendorSessionId: 'c2', configDir: folder, transcript: '/t/c2.jsonl' } },
    ])
    writeStatus('busy', { sessionId: 'c2' })
    await waitFor('transcript busy')
  })

  it('believes the newest program of a conversation, not the file that a crash left', async () => {
    writeStatus('idle', { startedAt: 1 })
    writeFileSync(
      join(folder, 'sessions', '8.json'),
      JSON.stringify({ sessionId: 'c1', startedAt: 2, status: 'busy', statusUpdatedAt: 3 }),
    )
    const later = open({ vendorSessionId: 'c1', configDir: folder, transcript: null })
    await waitFor('transcript busy')
    await later[Symbol.asyncDispose]()
  })

  it('passes over what it does not know, and says nothing once it is closed', async () => {
    hook('PreCompact', {})
    hook('Stop', { session_id: 'another' })
    signals.handleHook({ name: 'Stop', payload: 'odd', file: 'x.json', atMs: 0 })
    await signals[Symbol.asyncDispose]()
    hook('UserPromptSubmit', { prompt: 'late' })
    expect(heard).toEqual([])
  })

  it('answers for a terminal whose conversation is not known', async () => {
    const unknown = open({})
    expect(await unknown.findAccepted(token, waiting())).toBe('unknown')
    expect(await unknown.loadAnswer(waiting(50))).toMatchObject({ kind: 'none' })
    await unknown[Symbol.asyncDispose]()
  })
})

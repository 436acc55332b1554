import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { beginConversation, type Conversation, type Fact, stepConversation, type Tell } from './conversation.ts'
import { type HookFact, hookNames, readHook } from './hook-events.ts'
import { parseStatusRecord, type StatusRecord } from './status-record.ts'

const recorded = readFileSync(join(import.meta.dirname, 'fixtures', '2.1.332', 'hooks.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly name: string; readonly payload: Readonly<Record<string, unknown>> })

const ours = 'conversation-1'
const hook = (fact: HookFact, atMs = 1_000): Fact => ({ kind: 'hook', fact, atMs })
const prompt = (text: string | undefined, atMs?: number): Fact =>
  hook({ kind: 'prompt', sessionId: ours, text, promptId: 'p1' }, atMs)
const stopped = (answer: string, isInBackground = false): Fact =>
  hook({ kind: 'stopped', sessionId: ours, answer, isInBackground })
const record = (status: StatusRecord['status'], updatedAtMs = 2_000): StatusRecord => ({
  sessionId: ours,
  status,
  updatedAtMs,
  startedAtMs: 0,
})
const file = (status: StatusRecord['status'], updatedAtMs?: number): Fact => ({
  kind: 'file',
  record: record(status, updatedAtMs),
})

/** What a run of facts tells, as words. */
function tellsOf(...facts: readonly Fact[]): readonly string[] {
  let state: Conversation = beginConversation(ours, undefined)
  return facts.flatMap((fact) => {
    const step = stepConversation(state, fact)
    state = step.state
    return step.tells.map(describeTell)
  })
}

function describeTell(tell: Tell): string {
  switch (tell.kind) {
    case 'accepted':
      return `accepted ${tell.text}`
    case 'bound':
      return `bound ${tell.sessionId}`
    case 'look':
      return `look ${tell.after}`
    case 'claim': {
      const { claim } = tell
      const more = claim.kind === 'turn_ended' ? ` ${claim.outcome}` : claim.kind === 'busy' ? ` ${claim.reason}` : ''
      return `${tell.source}: ${claim.kind}${more}`
    }
  }
}

describe('a turn', () => {
  it('is told by hooks, and what the file says adds nothing to its end', () => {
    expect(tellsOf(prompt('x'), file('busy'), stopped('y'), file('idle', 3_000))).toEqual([
      'accepted x',
      'hook: turn_started',
      'transcript: busy turn',
      'hook: turn_ended answered',
      'look after_end',
    ])
  })

  it('that was interrupted ends by the file alone, as the transcript tells', () => {
    const settled: Fact = { kind: 'settled', outcome: 'interrupted' }
    expect(tellsOf(prompt('x'), file('busy'), file('idle', 3_000), settled, settled).slice(3)).toEqual([
      'look settled',
      'transcript: turn_ended interrupted',
    ])
  })

  it('whose end a hook explains while the transcript is waited for is told once', () => {
    const settled: Fact = { kind: 'settled', outcome: 'answered' }
    expect(tellsOf(prompt('x'), file('busy'), file('idle', 3_000), stopped('y'), settled).slice(3)).toEqual([
      'look settled',
      'hook: turn_ended answered',
      'look after_end',
    ])
  })

  it('is not ended by a rest that the file told before it began', () => {
    expect(tellsOf(prompt('x', 1_000), file('idle', 900))).toEqual(['accepted x', 'hook: turn_started'])
  })

  it('shorter than a look at the file ends all the same', () => {
    expect(tellsOf(prompt('x', 1_000), file('idle', 1_200))).toContain('look settled')
  })

  it('of a prompt that was queued is seen at work after the end of the one before', () => {
    const late: Fact = { kind: 'after_end', record: record('busy') }
    expect(tellsOf(prompt('x'), file('busy'), prompt('queued'), stopped('y'), late, stopped('z')).slice(3)).toEqual([
      'accepted queued',
      'hook: turn_started',
      'hook: turn_ended answered',
      'look after_end',
      'transcript: busy turn',
      'hook: turn_ended answered',
      'look after_end',
    ])
  })

  it('goes on behind its answer while sub-agents work for it', () => {
    expect(tellsOf(prompt('x'), stopped('wait', true), prompt(undefined), stopped('done')).slice(2)).toEqual([
      'hook: busy background',
      'hook: turn_started',
      'hook: turn_ended answered',
      'look after_end',
    ])
  })

  it('that failed says why before it ends', () => {
    const failed = hook({ kind: 'failed', sessionId: ours, reason: 'rate_limited', detail: 'API Error: 429' })
    expect(tellsOf(prompt('x'), failed).slice(2)).toEqual(['hook: failed', 'hook: turn_ended failed', 'look after_end'])
  })

  it('closes its question when the file says that work goes on', () => {
    expect(
      tellsOf(prompt('x'), file('busy'), file('waiting'), file('busy'), file('waiting'), file('idle')).slice(3),
    ).toEqual(['transcript: question_closed', 'look settled'])
  })
})

describe('a conversation', () => {
  const session = (sessionId: string, transcript: string | undefined) =>
    hook({ kind: 'session', sessionId, transcript })

  it('is followed when the person begins another one, and the former is not heard any more', () => {
    expect(
      tellsOf(session(ours, '/t/1'), session(ours, '/t/1'), session('conversation-2', '/t/2'), prompt('x')),
    ).toEqual([`bound ${ours}`, 'bound conversation-2'])
  })

  it('does not believe the file of another one', () => {
    expect(tellsOf({ kind: 'file', record: { ...record('busy'), sessionId: 'another' } })).toEqual([])
  })
})

describe('readHook', () => {
  const facts = recorded.flatMap(({ name, payload }) => {
    const fact = readHook(name, payload)
    return fact === undefined ? [] : [{ name, ...fact, sessionId: '' }]
  })

  it('reads the recorded events that CAO asks for, and no other', () => {
    expect([...new Set(facts.map(({ name }) => name))].sort()).toEqual([...hookNames].sort())
  })

  it('tells prompts of a person from those that the program makes for itself', () => {
    const prompts = facts.flatMap((fact) => (fact.kind === 'prompt' ? [fact.text] : []))
    expect(prompts).toContain('reply hello one')
    expect(prompts.filter((text) => text === undefined).length).toBeGreaterThan(0)
    expect(prompts.filter((text) => text?.includes('pasted_content') === true)).toEqual([])
  })

  it('tells by the recorded ends which turns go on behind their answer', () => {
    const stops = recorded.filter(({ name }) => name === 'Stop')
    const told = stops.map(({ payload }) => {
      const tasks = payload['background_tasks'] as readonly { readonly type: string }[]
      const fact = readHook('Stop', payload)
      return [tasks.map((task) => task.type).join(), fact?.kind === 'stopped' && fact.isInBackground]
    })
    expect(Object.fromEntries(told)).toEqual({ '': false, shell: false, subagent: true, 'MCP task': true })
  })

  it.each([
    ['rate_limit', 'API Error: Request rejected (429) · scripted error 429', 'rate_limited'],
    ['unknown', 'API Error: 400 scripted error 400', 'api_error'],
  ])('reads the failure %s', (error, detail, reason) => {
    expect(readHook('StopFailure', { session_id: 's', error, last_assistant_message: detail })).toEqual({
      kind: 'failed',
      sessionId: 's',
      reason,
      detail,
    })
  })

  it.each([
    ['of a sub-agent', 'Stop', { session_id: 's', agent_id: 'a', last_assistant_message: 'x' }],
    ['without a conversation', 'Stop', { last_assistant_message: 'x' }],
    ['without a prompt', 'UserPromptSubmit', { session_id: 's' }],
    ['of another kind', 'PreCompact', { session_id: 's' }],
    ['that is no object', 'Stop', ['x']],
  ])('gives nothing for an event %s', (_, name, payload) => {
    expect(readHook(name, payload)).toBe(undefined)
  })
})

describe('parseStatusRecord', () => {
  const line = { pid: 1, sessionId: ours, startedAt: 5, status: 'busy', statusUpdatedAt: 7 }

  it('reads what the program says of itself', () => {
    const statusOf = (status: string | undefined) => parseStatusRecord(JSON.stringify({ ...line, status }))?.status
    expect(parseStatusRecord(JSON.stringify(line))).toEqual({
      sessionId: ours,
      status: 'busy',
      updatedAtMs: 7,
      startedAtMs: 5,
    })
    expect(['waiting', 'idle', 'shell', 'dreaming', undefined].map(statusOf)).toEqual([
      'waiting',
      'idle',
      'idle',
      undefined,
      undefined,
    ])
  })

  it.each(['', '{"sessionId":', '[]', '{}'])('gives nothing for %j', (content) => {
    expect(parseStatusRecord(content)).toBe(undefined)
  })
})

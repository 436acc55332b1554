import { describe, expect, test } from 'vitest'
import { eventTypes } from '../domain/events.ts'
import type { EventBody } from '../protocol/event.ts'
import type { ExplainBody } from '../protocol/explain.ts'
import type { TerminalBody } from '../protocol/terminal.ts'
import { judgeTmux } from './doctor.ts'
import { describeGap } from './events.ts'
import { formatExplanation } from './explain.ts'
import { formatEvent } from './format-event.ts'
import { formatAge } from './format-time.ts'
import { formatCommandLine } from './print.ts'
import { formatTerminals } from './terminal-rows.ts'

const nowMs = Date.parse('2026-01-01T00:02:05.000Z')
const evil = '\u001b]0;owned\u0007\u001b[2Jtext\nmore'

const terminal: TerminalBody = {
  id: '1a2b3c4d',
  name: 'developer-1a2b',
  provider: 'scripted',
  session_name: 'cao-x',
  agent_profile: 'developer',
  caller_id: null,
  allowed_tools: null,
  engine: null,
  shell_command: null,
  group: null,
  metadata: null,
  status: 'waiting_user_answer',
  last_active: '2026-01-01T00:00:00.000Z',
  status_reason: 'question',
  status_since: '2026-01-01T00:00:00.000Z',
  status_detail: evil,
  status_until: null,
  status_evidence: `hook: ${evil}`,
  question_id: 'q-1',
  life: 'live',
  exit_code: null,
  exit_signal: null,
  lost_reason: null,
  queue_length: 3,
  working_directory: '/w',
  program: '/p',
  permission_mode: '',
  limits_not_enforced: [],
  worktree: null,
  created_at: '2026-01-01T00:00:00.000Z',
}

test('ls shows what a person has to act on, in one line, whatever the agent wrote', () => {
  const [head, row, ...rest] = formatTerminals([terminal], nowMs).split('\n')
  expect(head?.split(/ {2,}/)).toEqual([
    'TERMINAL',
    'SESSION',
    'PROFILE',
    'PROVIDER',
    'STATUS',
    'REASON',
    'SINCE',
    'QUEUE',
  ])
  expect(row?.split(/ {2,}/)).toEqual([
    '1a2b3c4d',
    'cao-x',
    'developer',
    'scripted',
    'waiting_user_answer',
    'question: text more',
    '2m',
    '3',
  ])
  expect(rest).toEqual([])
  expect(formatTerminals([], nowMs)).toMatch(/^no agents; start one with/)
})

test('explain shows each part, and lets no escape sequence through', () => {
  const explained: ExplainBody = {
    terminal,
    trail: [
      {
        at: terminal.created_at,
        source: 'screen',
        claim: 'busy (turn)',
        raw: evil,
        effect: 'kept',
        why: 'already processing',
      },
    ],
    sources: [{ source: 'hook', rank: 2, announces: ['turn_ended'], has_spoken: true, holds: ['turn'] }],
    screen: {
      lines: ['line one', evil],
      rule: 'resting footer',
      region: 'footer',
      region_text: evil,
      says: 'ready',
      rule_origin: null,
      composer: 'draft',
      composer_text: evil,
    },
    open_messages: [
      {
        id: 7,
        sender_id: 'user',
        receiver_id: terminal.id,
        message: evil,
        orchestration_type: 'input',
        status: 'pending',
        created_at: terminal.created_at,
        state: 'unconfirmed',
        detail: 'no proof in 60 s',
        attempts: 1,
        job_id: null,
        author: null,
        hops: 0,
        carried_by: null,
        updated_at: terminal.created_at,
        delivery: 'idle',
        proof: null,
        receipts: [{ state: 'queued', at: terminal.created_at }],
        turn_outcome: null,
        resend_of: null,
        dropped_at: null,
      },
    ],
    open_questions: [
      {
        id: 'q-1a2b3c4d',
        terminal_id: terminal.id,
        reason: 'question',
        text: evil,
        options: ['Red', 'Blue'],
        opened_at: terminal.created_at,
        closed_at: null,
        answer: null,
        state: 'open',
        answered_by: null,
        detail: null,
        operation: null,
      },
    ],
    facts: { pane: '%1' },
  }
  const text = formatExplanation(explained, nowMs)
  expect(text).not.toContain('\u001b')
  expect(text).not.toContain('owned')
  for (const part of [
    'status     waiting_user_answer (question) for 2m',
    'screen  busy (turn)  kept    already processing',
    '2  hook    yes     turn        turn_ended',
    '  rule      resting footer\n  says      ready\n  region    footer: text more\n  from      built in\n',
    '  composer  draft: text more\n  | line one\n  | text\n',
    '7        input  user  unconfirmed      1   2m  no proof in 60 s',
    'q-1a2b3c4d (question): text more\n    1. Red\n    2. Blue',
    'pane  %1',
  ]) {
    expect(text).toContain(part)
  }
})

describe('events as sentences', () => {
  /** With every field that any event has, as strings that must be cleaned. */
  const fields = {
    seq: 1,
    at: terminal.created_at,
    session_name: 'cao-x',
    terminal_id: '1a2b3c4d',
    provider: 'scripted',
    profile_name: evil,
    caller_id: '5e6f7a8b',
    from: 'a',
    to: 'b',
    reason: evil,
    detail: evil,
    because: evil,
    message_id: 3,
    kind: 'assign',
    sender_id: '5e6f7a8b',
    receiver_id: '1a2b3c4d',
    job_id: 'job-1',
    worker_id: '1a2b3c4d',
    question_id: 'q-1',
    text: evil,
    options: [evil],
    answer: evil,
    by: evil,
    clients: [evil],
    chars: 3,
    hops: 5,
    backend: 'tmux',
    instance_id: 'i',
    terminal_count: 2,
    adopted: 1,
    lost: 0,
    failed: 0,
    took_ms: 5,
    path: evil,
    branch: evil,
    changed_files: 1,
    commits_ahead: 1,
    channel: evil,
    count: 1,
  }

  test.each(eventTypes)('%s is one clean line', (type) => {
    const said = formatEvent({
      ...fields,
      reason: type === 'terminal.status_changed' ? 'turn' : evil,
      type,
    } as unknown as EventBody)
    expect(said).not.toMatch(/[\u0000-\u001f]|owned/)
    expect(said.length).toBeGreaterThan(10)
  })

  test('fields that are not there are left out', () => {
    const bare = { seq: 1, at: fields.at, type: 'job.state_changed', job_id: 'job-1', kind: 'assign', to: 'running' }
    expect(formatEvent(bare as unknown as EventBody)).toBe('job-1 (assign) is running')
  })
})

test('ages name their largest unit', () => {
  expect([-5, 0, 59_999, 60_000, 3_599_000, 7_200_000, 200_000_000].map(formatAge)).toEqual([
    '0s',
    '0s',
    '59s',
    '1m',
    '59m',
    '2h',
    '2d',
  ])
})

test('a command line that is printed can be pasted into a shell', () => {
  expect(formatCommandLine(['tmux', '-S', '/a b/s', ';', "it's", ''])).toBe(`tmux -S '/a b/s' ';' 'it'\\''s' ''`)
})

test('tmux 3.2a is the oldest that will do', () => {
  const level = (said: string) => judgeTmux(said).level
  expect(
    ['tmux 3.1c', 'tmux 3.2', 'tmux 3.2a', 'tmux 3.10', 'tmux 4.0', 'tmux next-3.7', 'tmux master'].map(level),
  ).toEqual(['fail', 'fail', 'ok', 'ok', 'ok', 'ok', 'note'])
})

test('an event that is kept no more and one that never was are told apart', () => {
  expect([describeGap(3, 9_000), describeGap(9_001, 9_000)]).toEqual([
    'events 4 to 9000 are not all kept any more; "cao events" prints the newest',
    'there is no event 9001: the last one is 9000',
  ])
})

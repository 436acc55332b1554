import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findLastEnd, isRateLimit, parseRollout, type RolloutRecord } from './rollout.ts'

const recorded = parseRollout(readFileSync(join(import.meta.dirname, 'fixtures', '0.171.0', 'rollout.jsonl'), 'utf8'))
/** The record as it stood after each end of a turn. */
const ends = recorded.flatMap(({ kind }, at) =>
  kind === 'ended' || kind === 'aborted' ? [findLastEnd(recorded.slice(0, at + 1)).end] : [],
)

describe('a recorded conversation', () => {
  it('holds every prompt word for word', () => {
    const prompts = recorded.flatMap((record) => (record.kind === 'prompt' ? [record.text] : []))
    expect(prompts).toEqual([
      'call exec_command {"cmd":"touch allowed","sandbox_permissions":"require_escalated","justification":"scripted"}',
      'ask Which colour? | Red | Blue',
      'ask Which colour? | Red | Blue',
      'say It begins.\nslow 20',
      'hang',
      'error 400',
      'error 500',
      'error 429',
      'say partial text\ncrash',
    ])
  })

  it('tells how each turn ended, and what it took', () => {
    const cost = { inputTokens: 240, outputTokens: 40 }
    expect(ends).toMatchObject([
      { outcome: 'answered', text: 'Done.', cost: { ...cost, durationMs: 1280 } },
      { outcome: 'answered', text: 'Done.', cost },
      { outcome: 'answered', text: 'Done.', cost },
      { outcome: 'interrupted' },
      { outcome: 'interrupted' },
      { outcome: 'failed', error: { message: expect.stringContaining('scripted error 400') as unknown } },
      { outcome: 'failed', error: { info: 'internal_server_error' } },
      { outcome: 'failed', error: { message: 'exceeded retry limit, last status: 429 Too Many Requests' } },
      { outcome: 'failed', error: { message: expect.stringContaining('stream disconnected') as unknown } },
    ])
  })

  it('knows the limit of a plan from other faults', () => {
    const faults = ends.flatMap((end) => (end?.outcome === 'failed' ? [isRateLimit(end.error)] : []))
    expect(faults).toEqual([false, false, true, false])
    expect(isRateLimit({ message: 'You have hit it.', info: 'usage_limit_exceeded' })).toBe(true)
  })
})

const at = { atMs: 1 }
const started: RolloutRecord = { kind: 'started', turnId: 't', ...at }
const text = (value: string): RolloutRecord => ({ kind: 'text', text: value, ...at })
const step: RolloutRecord = { kind: 'step', ...at }
const ended = (lastText?: string): RolloutRecord => ({
  kind: 'ended',
  turnId: 't',
  lastText,
  error: undefined,
  durationMs: undefined,
  ...at,
})

describe('the answer of a turn', () => {
  it.each([
    [
      'all texts after the last step',
      [text('I look.'), step, text('One.'), text(''), text('Two.'), ended('Two.')],
      'One.\nTwo.',
    ],
    [
      'what came after a prompt in the turn',
      [text('Half'), { kind: 'prompt', text: 'p', ...at }, text('Whole'), ended()],
      'Whole',
    ],
    ['what the end names, where no text is there', [step, ended('Only here.')], 'Only here.'],
    ['nothing, where nothing was said', [ended()], ''],
  ] as const)('is %s', (_, records, answer) => {
    expect(findLastEnd([started, ...records])).toMatchObject({
      end: { outcome: 'answered', text: answer },
      isOpen: false,
    })
  })

  it('is that of the last turn which ended, while another runs', () => {
    expect(findLastEnd([started, text('One.'), ended(), started, text('Two')])).toMatchObject({
      end: { text: 'One.' },
      isOpen: true,
    })
    expect(findLastEnd([])).toEqual({ end: undefined, isOpen: false })
  })
})

it('leaves out what it can not read', () => {
  const line = (fields: object) => JSON.stringify({ timestamp: '2026-12-01T01:12:17.000Z', ...fields })
  const odd = [
    '',
    '{"cut',
    line({ type: 'event_msg' }),
    line({ type: 'event_msg', payload: { type: 'item_completed', item: { type: 'Plan' } } }),
    JSON.stringify({ type: 'event_msg', payload: { type: 'task_started' } }),
  ]
  expect(parseRollout(odd.join('\n'))).toEqual([])
})

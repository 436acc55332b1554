import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findLastTurn, isRateLimit, parseWire, type WireRecord } from './wire.ts'

const recorded = parseWire(readFileSync(join(import.meta.dirname, 'fixtures', '2.1.0', 'wire.jsonl'), 'utf8'))
/** The record as it stood after each end of a turn. */
const ends = recorded.flatMap(({ kind }, at) => (kind === 'ended' ? [findLastTurn(recorded.slice(0, at + 1))] : []))

describe('a recorded conversation', () => {
  it('tells how each turn ended, and what it took', () => {
    const cost = { inputTokens: 120, outputTokens: 20 }
    expect(ends[0]).toMatchObject({ outcome: 'answered', text: 'hello from the model', cost })
    expect(ends[4]).toMatchObject({ outcome: 'answered', text: 'done', cost: { inputTokens: 240, outputTokens: 40 } })
    const outcomes = ends.map((end) => (end.kind === 'ended' ? end.outcome : end.kind))
    expect(outcomes.slice(0, 3)).toEqual(['answered', 'interrupted', 'interrupted'])
    expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(1)
    expect(ends.find((end) => end.kind === 'ended' && end.outcome === 'failed')).toMatchObject({
      error: { name: 'APIStatusError', message: '400 scripted error 400' },
    })
  })

  it('leaves out what was said before the connection broke', () => {
    expect(ends.at(-1)).toMatchObject({ outcome: 'answered', text: 'Done.' })
  })
})

const prompt = (from: 'user' | 'steer' | 'program'): WireRecord => ({ kind: 'prompt', text: 'p', from })
const text = (value: string): WireRecord => ({ kind: 'text', text: value })
const ended: WireRecord = { kind: 'ended', outcome: 'answered', error: undefined, durationMs: 1 }

it.each([
  [
    'the words of the last step',
    [prompt('user'), text('I look.'), { kind: 'step' }, text('One.'), text('Two.'), ended],
    'One.\nTwo.',
  ],
  [
    'one answer, where a prompt came into the turn',
    [prompt('user'), { kind: 'step' }, prompt('steer'), { kind: 'step' }, text('A'), ended],
    'A',
  ],
  [
    'that of the turn which the program began',
    [prompt('user'), text('A'), ended, prompt('program'), text('B'), ended],
    'B',
  ],
] as const)('the answer is %s', (_, records, answer) => {
  expect(findLastTurn(records)).toMatchObject({ kind: 'ended', text: answer })
})

it('knows a turn that runs from none', () => {
  expect(findLastTurn([prompt('user'), ended, prompt('user'), text('A')])).toEqual({ kind: 'open' })
  expect(findLastTurn([])).toEqual({ kind: 'none' })
})

it('leaves out what it can not read', () => {
  expect(parseWire('\n{"cut\n{"type":"other"}\n[]\n{"type":"usage.record","usageScope":"session"}')).toEqual([])
})

it('knows a limit from other faults', () => {
  expect(isRateLimit({ name: 'APIProviderRateLimitError', message: 'slow down' })).toBe(true)
  expect(isRateLimit({ name: 'APIStatusError', message: '500 broken' })).toBe(false)
})

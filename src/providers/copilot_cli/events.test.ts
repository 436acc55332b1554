import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CopilotEvent, findLastEnd, noTurn, parseEvents, stepTurn, type TurnEnd } from './events.ts'

const recorded = parseEvents(readFileSync(join(import.meta.dirname, 'fixtures', '1.0.102', 'events.jsonl'), 'utf8'))

function endsOf(events: readonly CopilotEvent[]): readonly TurnEnd[] {
  let turn = noTurn
  return events.flatMap((event) => {
    const stepped = stepTurn(turn, event)
    turn = stepped.turn
    return stepped.end === undefined ? [] : [stepped.end]
  })
}

it('a recorded conversation tells how each turn ended, and what it took', () => {
  const ends = endsOf(recorded)
  const prompts = recorded.filter(({ kind }) => kind === 'prompt')
  expect(ends).toHaveLength(prompts.length)
  expect(ends[0]).toMatchObject({
    outcome: 'answered',
    text: 'hello from the model',
    cost: { inputTokens: 120, outputTokens: 20 },
  })
  const outcomes = ends.map(({ outcome }) => outcome)
  expect(outcomes.filter((outcome) => outcome === 'interrupted')).toHaveLength(1)
  const failed = ends.flatMap((end) => (end.outcome === 'failed' ? [[end.isLimit, end.detail.slice(0, 24)]] : []))
  expect(failed).toEqual([
    [false, '400 scripted error 400'],
    [false, 'Failed to get response f'],
    [true, 'Failed to get response f'],
    [false, 'Failed to get response f'],
  ])
})

const at = { atMs: 1 }
const prompt: CopilotEvent = { kind: 'prompt', text: 'p', ...at }
const step: CopilotEvent = { kind: 'step', ...at }
const stepEnded: CopilotEvent = { kind: 'step_ended', ...at }
const says = (text: string, hasCalls = false): CopilotEvent => ({ kind: 'message', text, hasCalls, ...at })

describe('the answer of a turn', () => {
  it('is what was said after the last step that called tools', () => {
    const events = [prompt, step, says('I look.', true), stepEnded, step, says('One.'), says('Two.'), stepEnded]
    expect(findLastEnd(events)).toMatchObject({ end: { outcome: 'answered', text: 'One.\nTwo.' }, isOpen: false })
  })

  it('is that of the last turn which ended, while another runs', () => {
    expect(findLastEnd([prompt, step, says('A'), stepEnded, prompt])).toMatchObject({
      end: { text: 'A' },
      isOpen: true,
    })
    expect(findLastEnd([])).toEqual({ end: undefined, isOpen: false })
  })
})

it('leaves out what it can not read, what sub-agents do, and what the program says to itself', () => {
  const line = (data: object, more: object = {}) =>
    JSON.stringify({ type: 'user.message', data, timestamp: '2026-12-01T00:00:00.000Z', ...more })
  const odd = ['{"cut', '[]', line({ content: 'a' }, { timestamp: 'never' }), line({ content: 'b', source: 'skill' })]
  expect(
    parseEvents([...odd, line({ content: 'c', parentToolCallId: 't' }), line({ content: 'd' })].join('\n')),
  ).toEqual([{ kind: 'prompt', text: 'd', atMs: Date.parse('2026-12-01T00:00:00.000Z') }])
})

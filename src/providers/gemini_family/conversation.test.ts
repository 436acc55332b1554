import { describe, expect, it } from 'vitest'
import { type Conversation, type Fact, newConversation, stepConversation, type Tell } from './conversation.ts'
import { TitleScanner } from './title.ts'
import { type ChatRecord, listTurns, readEnd } from './turn.ts'

const prompt = (atMs: number, text = 'do it'): Fact => ({ kind: 'record', record: { kind: 'prompt', text, atMs } })
const record = (atMs: number, fields: object): Fact => ({ kind: 'record', record: { atMs, ...fields } as ChatRecord })
const said = (atMs: number, text: string, hasCalls = false, id = text): Fact =>
  record(atMs, { kind: 'said', id, text, hasCalls, input: 120, output: 20 })
const title = (atMs: number, state: 'ready' | 'working' | 'waiting'): Fact => ({ kind: 'program', state, atMs })

function run(...facts: readonly Fact[]): { readonly state: Conversation; readonly told: readonly string[] } {
  let state = newConversation
  const told: string[] = []
  for (const fact of facts) {
    const step = stepConversation(state, fact)
    state = step.state
    told.push(...step.tells.map(describeTell))
  }
  return { state, told }
}

function describeTell(tell: Tell): string {
  if (tell.kind === 'look') return 'look'
  if (tell.kind === 'accepted') return `accepted ${tell.text}`
  const { claim } = tell
  if (claim.kind === 'turn_ended') return `${tell.source} ended ${claim.outcome} ${claim.answer ?? ''}`.trim()
  return claim.kind === 'failed' ? `${tell.source} failed ${claim.reason}` : `${tell.source} ${claim.kind}`
}
const began = ['transcript turn_started', 'accepted do it', 'look']

describe('record and title together', () => {
  it('a turn begins with its prompt, and ends as answered when the program rests', () => {
    expect(run(prompt(1), title(2, 'working'), said(3, 'Done.'), title(4, 'ready')).told).toEqual([
      ...began,
      'transcript ended answered Done.',
    ])
  })

  it('what was said before a tool was called is not the answer, nor the end', () => {
    const steps = [
      said(3, 'I look.', false, 'a'),
      title(4, 'waiting'),
      title(5, 'working'),
      said(3, 'I look.', true, 'a'),
    ]
    const results = record(6, { kind: 'results' })
    expect(run(prompt(1), title(2, 'working'), ...steps, results, said(7, 'Found.'), title(8, 'ready')).told).toEqual([
      ...began,
      'title question_closed',
      'transcript ended answered Found.',
    ])
  })

  it.each([
    ['an interruption', [record(3, { kind: 'cancelled' }), title(4, 'ready')], ['transcript ended interrupted']],
    [
      'an error',
      [record(3, { kind: 'error', text: 'scripted error 400' }), title(4, 'ready')],
      ['transcript failed api_error', 'transcript ended failed'],
    ],
    [
      'a rate limit',
      [record(3, { kind: 'error', text: '429 slow down' }), title(4, 'ready')],
      ['transcript failed rate_limited', 'transcript ended failed'],
    ],
    [
      'a wait for another try that somebody broke off',
      [record(3, { kind: 'error', text: '500' }), title(9_000, 'ready')],
      ['transcript ended interrupted'],
    ],
    [
      'an error that another try made good',
      [record(3, { kind: 'error', text: '500' }), said(4, 'Done.'), title(5, 'ready')],
      ['transcript ended answered Done.'],
    ],
    [
      'nothing at all, in the end',
      [title(4, 'ready'), { kind: 'late', turnMs: 1, atMs: 9 } as const],
      ['look', 'title ended interrupted'],
    ],
  ])('the turn ends with %s', (_, facts, ends) => {
    expect(run(prompt(1), title(2, 'working'), ...facts).told).toEqual([...began, ...ends])
  })

  it('a queued prompt that begins before a title tells of rest ends the turn before it', () => {
    expect(run(prompt(1), title(2, 'working'), said(3, 'One.'), prompt(4, 'more')).told).toEqual([
      ...began,
      'transcript ended answered One.',
      'transcript turn_started',
      'accepted more',
      'look',
    ])
  })

  it('a record that is read behind the titles is told all the same', () => {
    expect(run(title(5, 'working'), title(6, 'ready'), prompt(1), said(3, 'Done.')).told).toEqual([
      ...began,
      'transcript ended answered Done.',
    ])
  })

  it('a rest of before the prompt does not end its turn', () => {
    expect(run(title(1, 'ready'), prompt(2), said(3, 'I look.')).told).toEqual(began)
  })

  it('a turn that was broken off before the program showed any work is over in the end', () => {
    const late = (turnMs: number): Fact => ({ kind: 'late', turnMs, atMs: 9 })
    expect(run(title(1, 'ready'), prompt(2), late(2)).told).toEqual([...began, 'title ended interrupted'])
    expect(run(title(1, 'ready'), prompt(2), title(3, 'working'), late(2)).told).toEqual(began)
    expect(run(title(1, 'ready'), prompt(2), late(1)).told).toEqual(began)
  })

  it('work without a prompt begins no turn', () => {
    expect(run(title(1, 'working'), title(2, 'ready')).told).toEqual([])
  })
})

it('a turn has all texts of its answer, and what all its messages took', () => {
  const records = [
    prompt(1_000),
    said(2_000, 'I look.', true),
    record(3_000, { kind: 'results' }),
    said(4_000, 'a'),
    said(5_000, 'b'),
  ]
  const turns = listTurns(records.flatMap((fact) => (fact.kind === 'record' ? [fact.record] : [])))
  expect(turns.map((turn) => readEnd(turn, turn.lastMs))).toEqual([
    { outcome: 'answered', text: 'a\n\nb', cost: { durationMs: 4_000, inputTokens: 360, outputTokens: 60 } },
  ])
})

describe('TitleScanner', () => {
  const read = (text: string) =>
    text.startsWith('◇') ? ('ready' as const) : text === '✦ x' ? ('working' as const) : undefined

  it('finds the titles in what was printed, however it was cut', () => {
    const bytes = Buffer.from('a\u001b]0;✦ x\u0007b\u001b]2;◇ Ready\u001b\\c\u001b]0;other\u0007')
    for (let at = 1; at < bytes.length; at++) {
      const scanner = new TitleScanner(read)
      expect([...scanner.feed(bytes.subarray(0, at)), ...scanner.feed(bytes.subarray(at))]).toEqual([
        'working',
        'ready',
      ])
    }
  })
})

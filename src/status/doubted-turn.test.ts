/** Doubt over a turn that a source began and never ended, with a stand-in for the screen and the agent's record. */
import { expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import type { Claim, EvidenceSource } from '../domain/status.ts'
import { initialStatus, reduceStatus } from '../domain/status-reducer.ts'
import type { AnswerOutcome } from '../providers/provider.ts'
import { type DoubtOptions, doubtTurns } from './doubted-turn.ts'
import type { Seen } from './terminal-watch.ts'

const hungAfterMs = 20_000
const announces = { hook: ['turn_started', 'turn_ended'] } as const

function start(screen: () => Claim['kind'], answer: AnswerOutcome, isPrinting = () => true) {
  let offset = 0
  const clock = new ManualClock()
  let state = initialStatus(clock.nowMs())
  const addEvidence = (source: EvidenceSource, claim: Claim, raw: string) => {
    state = reduceStatus(state, { source, claim, atMs: clock.nowMs(), raw }, announces)
  }
  const watch: DoubtOptions['watch'] = {
    get state() {
      return state
    },
    look: () => Promise.resolve({ reading: { claim: { kind: screen() } } } as Seen),
    addEvidence,
    get cursor() {
      if (isPrinting()) offset += 100
      return { outputOffset: offset, hookOffset: 0, turnsEnded: 0 }
    },
  }
  const controller = new AbortController()
  const ended = doubtTurns(
    { watch, clock, hungAfterMs, loadAnswer: () => Promise.resolve(answer) },
    controller.signal,
  ).catch(() => undefined)
  addEvidence('hook', { kind: 'turn_started' }, 'TurnStarted')
  return {
    clock,
    addEvidence,
    status: () => `${state.status} (${state.reason})`,
    end: () => {
      controller.abort(new Error('the test is over'))
      return ended
    },
  }
}

const answered: AnswerOutcome = { kind: 'exact', text: 'done', source: 'transcript' }

test('the record ends a turn whose end was never told, once the screen has been at rest for the time of the provider', async () => {
  const agent = start(() => 'ready', answered)
  await agent.clock.advance(hungAfterMs)
  expect(agent.status()).toBe('processing (turn)')
  await agent.clock.advance(10_000)
  expect(agent.status()).toBe('completed (turn_ended)')
  await agent.end()
})

test('where the record does not tell either, the turn is called hung and not ended', async () => {
  const agent = start(() => 'ready', { kind: 'none', why: 'no turn has ended' })
  await agent.clock.advance(hungAfterMs + 10_000)
  expect(agent.status()).toBe('processing (hung)')
  await agent.end()
})

test('a screen that shows work in between begins the time anew', async () => {
  let looks = 0
  const agent = start(() => (++looks % 4 === 0 ? 'busy' : 'ready'), answered)
  await agent.clock.advance(200_000)
  expect(agent.status()).toBe('processing (turn)')
  expect(looks).toBeGreaterThan(30)
  await agent.end()
})

test('a program that looks busy and prints nothing for the time of the provider is called hung, until it prints again', async () => {
  let isPrinting = false
  const agent = start(
    () => 'busy',
    { kind: 'none', why: 'it works' },
    () => isPrinting,
  )
  await agent.clock.advance(hungAfterMs)
  expect(agent.status()).toBe('processing (turn)')
  await agent.clock.advance(10_000)
  expect(agent.status()).toBe('processing (hung)')
  isPrinting = true
  agent.addEvidence('screen', { kind: 'busy', reason: 'turn' }, 'spinner')
  await agent.clock.advance(100_000)
  expect(agent.status()).toBe('processing (turn)')
  await agent.end()
})

/**
 * What Codex's record and its own marks add up to: a pure step from state and fact to the next state and what it tells CAO.
 * The record tells of prompts, beginnings and ends, with texts, and comes first: a mark is printed after the line it belongs
 * to was written. Marks tell that a question was answered, and that a turn is over whose record has stopped. That the program
works they also tell while it connects to its servers, so no mark begins a turn.
 */
import type { Claim, EvidenceSource, TurnOutcome } from '../../domain/status.ts'
import type { ProgramState } from './program-status.ts'
import { isRateLimit, noTurn, type RolloutRecord, readEnd, stepTurn, type Turn, type TurnEnd } from './rollout.ts'

export type Fact =
  | { readonly kind: 'record'; readonly record: RolloutRecord }
  | { readonly kind: 'program'; readonly state: ProgramState; readonly atMs: number }
  /** Some time after a mark of rest that the record had not explained. */
  | { readonly kind: 'late'; readonly atMs: number }

export type Tell =
  | { readonly kind: 'claim'; readonly source: EvidenceSource; readonly claim: Claim; readonly atMs: number }
  | { readonly kind: 'accepted'; readonly text: string; readonly atMs: number }
  /** A fact `late` is wanted in a moment. */
  | { readonly kind: 'look' }

export type Conversation = {
  /** As the record goes. */
  readonly turn: Turn
  /** As it was told to CAO. */
  readonly isTurnOpen: boolean
  readonly program: ProgramState | undefined
}

export type Step = { readonly state: Conversation; readonly tells: readonly Tell[] }

export const newConversation: Conversation = {
  turn: noTurn,
  isTurnOpen: false,
  program: undefined,
}

const quiet = (state: Conversation): Step => ({ state, tells: [] })
const byRecord = (claim: Claim, atMs: number): Tell => ({ kind: 'claim', source: 'transcript', claim, atMs })
const byMark = (claim: Claim, atMs: number): Tell => ({ kind: 'claim', source: 'title', claim, atMs })

/** How a turn ended, by the mark that the program shows at rest. */
const restOutcomes: Readonly<Partial<Record<ProgramState, TurnOutcome>>> = {
  done: 'answered',
  error: 'failed',
  idle: 'interrupted',
}

export function stepConversation(state: Conversation, fact: Fact): Step {
  switch (fact.kind) {
    case 'record':
      return takeRecord(state, fact.record)
    case 'program':
      return takeProgram(state, fact.state, fact.atMs)
    case 'late':
      return state.isTurnOpen ? endByMark(state, fact.atMs) : quiet(state)
  }
}

function takeRecord(before: Conversation, record: RolloutRecord): Step {
  const state = { ...before, turn: stepTurn(before.turn, record) }
  const { atMs } = record
  switch (record.kind) {
    case 'started':
      return { state: { ...state, isTurnOpen: true }, tells: [byRecord({ kind: 'turn_started' }, atMs)] }
    case 'prompt':
      return { state, tells: [{ kind: 'accepted', text: record.text, atMs }] }
    case 'ended':
    case 'aborted': {
      const end = readEnd(before.turn, record)
      const claims = [...describeClosed(before, end), ...describeEnd(end)]
      return { state: { ...state, isTurnOpen: false }, tells: claims.map((claim) => byRecord(claim, atMs)) }
    }
    case 'text':
    case 'step':
    case 'tokens':
      return quiet(state)
  }
}

/** A turn with an answer went on after its question, also where no mark told of that in time. */
function describeClosed({ program }: Conversation, { outcome }: TurnEnd): readonly Claim[] {
  return program === 'blocked' && outcome === 'answered' ? [{ kind: 'question_closed' }] : []
}

function describeEnd(end: TurnEnd): readonly Claim[] {
  switch (end.outcome) {
    case 'answered':
      return [{ kind: 'turn_ended', outcome: 'answered', answer: end.text }]
    case 'interrupted':
      return [{ kind: 'turn_ended', outcome: 'interrupted', answer: undefined }]
    case 'failed': {
      const reason = isRateLimit(end.error) ? 'rate_limited' : 'api_error'
      return [
        { kind: 'failed', reason, detail: end.error.message },
        { kind: 'turn_ended', outcome: 'failed', answer: undefined },
      ]
    }
  }
}

function takeProgram(before: Conversation, program: ProgramState, atMs: number): Step {
  const state = { ...before, program }
  if (program === 'working' && before.program === 'blocked') {
    return { state, tells: [byMark({ kind: 'question_closed' }, atMs)] }
  }
  return restOutcomes[program] !== undefined && state.isTurnOpen ? { state, tells: [{ kind: 'look' }] } : quiet(state)
}

function endByMark(state: Conversation, atMs: number): Step {
  const outcome = state.program === undefined ? undefined : restOutcomes[state.program]
  if (outcome === undefined) return quiet(state)
  const ended = byMark({ kind: 'turn_ended', outcome, answer: undefined }, atMs)
  return { state: { ...state, isTurnOpen: false }, tells: [ended] }
}

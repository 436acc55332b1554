/**
 * What the record and the title of Gemini CLI, or of a program made from it, add up to: a pure step from state and fact to the next
 * state and what it tells CAO.
 * The record tells of a prompt, which begins a turn, and of every text; but a message of the model looks the same whether it ends the
 * turn or a tool follows. The title tells that the turn is over: what the record holds by then says how. The record is
 * read before the title, since the program writes it first.
 */
import type { Claim, EvidenceSource } from '../../domain/status.ts'
import type { ProgramState } from './title.ts'
import { beginTurn, type ChatRecord, isRateLimit, readEnd, stepTurn, type Turn, type TurnEnd } from './turn.ts'

export type Fact =
  | { readonly kind: 'record'; readonly record: ChatRecord }
  | { readonly kind: 'program'; readonly state: ProgramState; readonly atMs: number }
  /** Some time after a prompt, or a title of rest that the record had not explained. `turnMs`: when that turn began. */
  | { readonly kind: 'late'; readonly turnMs: number; readonly atMs: number }

export type Tell =
  | { readonly kind: 'claim'; readonly source: EvidenceSource; readonly claim: Claim; readonly atMs: number }
  | { readonly kind: 'accepted'; readonly text: string; readonly atMs: number }
  /** A fact `late` is wanted in a moment. */
  | { readonly kind: 'look'; readonly turnMs: number }

export type Conversation = {
  /** The last one that the record tells of. */
  readonly turn: Turn | undefined
  /** As it was told to CAO. */
  readonly isTurnOpen: boolean
  readonly program: ProgramState | undefined
  /** When its title said so. */
  readonly programMs: number
}

export type Step = { readonly state: Conversation; readonly tells: readonly Tell[] }

export const newConversation: Conversation = {
  turn: undefined,
  isTurnOpen: false,
  program: undefined,
  programMs: 0,
}

const quiet = (state: Conversation): Step => ({ state, tells: [] })
const byRecord = (claim: Claim, atMs: number): Tell => ({ kind: 'claim', source: 'transcript', claim, atMs })
const byTitle = (claim: Claim, atMs: number): Tell => ({ kind: 'claim', source: 'title', claim, atMs })

export function stepConversation(state: Conversation, fact: Fact): Step {
  switch (fact.kind) {
    case 'record':
      return takeRecord(state, fact.record)
    case 'program':
      return takeProgram(state, fact.state, fact.atMs)
    case 'late':
      return takeLate(state, fact.turnMs, fact.atMs)
  }
}

function takeRecord(before: Conversation, record: ChatRecord): Step {
  if (record.kind === 'prompt') return takePrompt(before, record)
  if (before.turn === undefined) return quiet(before)
  const state = { ...before, turn: stepTurn(before.turn, record) }
  const isAtRest = state.program === 'ready' && state.programMs > before.turn.beganMs
  return state.isTurnOpen && isAtRest ? endByRecord(state, state.programMs) : quiet(state)
}

/**
 * A prompt that was queued may begin before the title told that the turn before it was over. A record that is written behind the
 * program's back may be read when all is over, and who breaks a turn off at once may leave no title of work: so it is looked at again.
 */
function takePrompt(before: Conversation, { text, atMs }: Extract<ChatRecord, { kind: 'prompt' }>): Step {
  const ended = before.isTurnOpen ? endByRecord(before, atMs) : quiet(before)
  return {
    state: { ...before, turn: beginTurn(atMs), isTurnOpen: true },
    tells: [
      ...ended.tells,
      byRecord({ kind: 'turn_started' }, atMs),
      { kind: 'accepted', text, atMs },
      { kind: 'look', turnMs: atMs },
    ],
  }
}

/** The turn is still open, and its program rests: if the record tells nothing by now, it was broken off. */
function takeLate(state: Conversation, turnMs: number, atMs: number): Step {
  if (!state.isTurnOpen || state.program !== 'ready' || state.turn?.beganMs !== turnMs) return quiet(state)
  const ended = endByRecord(state, atMs)
  return ended.tells.length > 0 ? ended : endByTitle(state, atMs)
}

function takeProgram(before: Conversation, program: ProgramState, atMs: number): Step {
  const state = { ...before, program, programMs: atMs }
  if (before.program === 'waiting' && program !== 'waiting') {
    const closed = byTitle({ kind: 'question_closed' }, atMs)
    const next = program === 'ready' ? takeRest(state, atMs) : quiet(state)
    return { state: next.state, tells: [closed, ...next.tells] }
  }
  return program === 'ready' ? takeRest(state, atMs) : quiet(state)
}

function takeRest(state: Conversation, atMs: number): Step {
  if (!state.isTurnOpen) return quiet(state)
  const ended = endByRecord(state, atMs)
  const looks: readonly Tell[] = state.turn === undefined ? [] : [{ kind: 'look', turnMs: state.turn.beganMs }]
  return ended.tells.length > 0 ? ended : { state, tells: looks }
}

function endByRecord(state: Conversation, atMs: number): Step {
  const end = state.turn === undefined ? undefined : readEnd(state.turn, atMs)
  if (end === undefined) return quiet(state)
  return { state: { ...state, isTurnOpen: false }, tells: describeEnd(end).map((claim) => byRecord(claim, atMs)) }
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
        { kind: 'failed', reason, detail: end.error },
        { kind: 'turn_ended', outcome: 'failed', answer: undefined },
      ]
    }
  }
}

/** A turn that was broken off at once leaves no word in the record, nor does any where the record has stopped, as on a full disk. */
function endByTitle(state: Conversation, atMs: number): Step {
  const ended = byTitle({ kind: 'turn_ended', outcome: 'interrupted', answer: undefined }, atMs)
  return { state: { ...state, isTurnOpen: false }, tells: [ended] }
}

/**
 * What hooks and the program's own status file add up to: a pure step from state and fact to the next state and what it
 * tells CAO. Hooks tell of prompts, answers and failures, with their texts. Nothing but the file tells of a turn that was
 * interrupted, or of a question that was refused, and it tells after the hooks: an end that no hook explains is looked up in the transcript.
 */
import type { Claim, EvidenceSource, TurnOutcome } from '../../domain/status.ts'
import type { HookFact } from './hook-events.ts'
import type { StatusRecord, VendorStatus } from './status-record.ts'

export type Fact =
  | { readonly kind: 'hook'; readonly fact: HookFact; readonly atMs: number }
  | { readonly kind: 'file'; readonly record: StatusRecord }
  /** Some time after an end that a hook told: the file as it is now. */
  | { readonly kind: 'after_end'; readonly record: StatusRecord | undefined }
  /** Some time after an end that only the file told: what the transcript says of it. */
  | { readonly kind: 'settled'; readonly outcome: TurnOutcome }

export type Tell =
  | { readonly kind: 'claim'; readonly source: EvidenceSource; readonly claim: Claim }
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'bound'; readonly sessionId: string; readonly transcript: string | undefined }
  /** A fact of this kind is wanted in a moment. */
  | { readonly kind: 'look'; readonly after: 'after_end' | 'settled' }

export type Conversation = {
  readonly sessionId: string
  readonly transcript: string | undefined
  readonly isTurnOpen: boolean
  /** When a hook told that it began; 0 when the file did. */
  readonly openedAtMs: number
  /** Of the newest prompt: a transcript that does not hold it yet tells of an earlier turn. */
  readonly promptId: string | undefined
  /** Of the turn that ended last, when a hook told it. */
  readonly answer: string | undefined
  /** As the file said last. */
  readonly status: VendorStatus | undefined
}

export type Step = { readonly state: Conversation; readonly tells: readonly Tell[] }

export function beginConversation(sessionId: string, transcript: string | undefined): Conversation {
  const turn = { isTurnOpen: false, openedAtMs: 0, promptId: undefined, answer: undefined }
  return { sessionId, transcript, ...turn, status: undefined }
}

const byHook = (claim: Claim): Tell => ({ kind: 'claim', source: 'hook', claim })
const byFile = (claim: Claim): Tell => ({ kind: 'claim', source: 'transcript', claim })
const quiet = (state: Conversation): Step => ({ state, tells: [] })

export function stepConversation(state: Conversation, fact: Fact): Step {
  switch (fact.kind) {
    case 'hook':
      return takeHook(state, fact.fact, fact.atMs)
    case 'file':
      return fact.record.sessionId === state.sessionId ? takeRecord(state, fact.record) : quiet(state)
    case 'after_end':
      return takeLate(state, fact.record)
    case 'settled':
      return settle(state, fact.outcome)
  }
}

function takeHook(state: Conversation, fact: HookFact, atMs: number): Step {
  if (fact.kind === 'session') return moveTo(state, fact.sessionId, fact.transcript)
  // Of a conversation that was on the screen before.
  if (fact.sessionId !== state.sessionId) return quiet(state)
  switch (fact.kind) {
    case 'prompt': {
      const accepted: readonly Tell[] = fact.text === undefined ? [] : [{ kind: 'accepted', text: fact.text }]
      const opened = { ...openTurn(state, atMs), promptId: fact.promptId ?? state.promptId }
      return { state: opened, tells: [...accepted, byHook({ kind: 'turn_started' })] }
    }
    case 'stopped': {
      if (fact.isInBackground) return { state, tells: [byHook({ kind: 'busy', reason: 'background' })] }
      const ended = byHook({ kind: 'turn_ended', outcome: 'answered', answer: fact.answer })
      const rested = { ...state, isTurnOpen: false, answer: fact.answer }
      return { state: rested, tells: [ended, { kind: 'look', after: 'after_end' }] }
    }
    case 'failed': {
      const { reason, detail } = fact
      const ended = byHook({ kind: 'turn_ended', outcome: 'failed', answer: undefined })
      const tells = [byHook({ kind: 'failed', reason, detail }), ended]
      return { state: { ...state, isTurnOpen: false }, tells: [...tells, { kind: 'look', after: 'after_end' }] }
    }
  }
}

const openTurn = (state: Conversation, openedAtMs: number): Conversation => ({
  ...state,
  isTurnOpen: true,
  openedAtMs,
  answer: undefined,
})

function moveTo(state: Conversation, sessionId: string, transcript: string | undefined): Step {
  if (sessionId === state.sessionId && transcript === state.transcript) return quiet(state)
  const moved = sessionId === state.sessionId ? { ...state, transcript } : beginConversation(sessionId, transcript)
  return { state: moved, tells: [{ kind: 'bound', sessionId, transcript }] }
}

function takeRecord(state: Conversation, { status, updatedAtMs }: StatusRecord): Step {
  const before = state.status
  if (status === undefined) return quiet(state)
  const now = { ...state, status }
  switch (status) {
    case 'busy':
      if (before === 'busy') return quiet(state)
      return {
        state: now.isTurnOpen ? now : openTurn(now, 0),
        tells: [before === 'waiting' ? byFile({ kind: 'question_closed' }) : byFile({ kind: 'busy', reason: 'turn' })],
      }
    // The dialog's own words are on the screen alone.
    case 'waiting':
      return quiet(now.isTurnOpen ? now : openTurn(now, 0))
    case 'idle':
      // A rest that was told before the turn began is not its end.
      if (!state.isTurnOpen || updatedAtMs < state.openedAtMs) return quiet(now)
      return { state: now, tells: [{ kind: 'look', after: 'settled' }] }
  }
}

/** A prompt that was queued runs on without a new beginning. */
function takeLate(state: Conversation, record: StatusRecord | undefined): Step {
  if (record === undefined || record.sessionId !== state.sessionId || state.isTurnOpen) return quiet(state)
  if (record.status !== 'busy') return takeRecord(state, record)
  const opened = { ...openTurn(state, 0), status: record.status }
  return { state: opened, tells: [byFile({ kind: 'busy', reason: 'turn' })] }
}

/** Nothing when a hook explained the end meanwhile, or another turn began. */
function settle(state: Conversation, outcome: TurnOutcome): Step {
  if (!state.isTurnOpen || state.status !== 'idle') return quiet(state)
  const ended = byFile({ kind: 'turn_ended', outcome, answer: undefined })
  return { state: { ...state, isTurnOpen: false }, tells: [ended] }
}

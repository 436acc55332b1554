/**
 * Evidence in, status out: pure and replayable. Rules, in order:
 *  1. Death first, and for good: after exited or lost only `launched` counts.
 *  2. Processing and waiting are entered at once, unless a better source that announces turns has
 *     just said the turn ended (its screen is still being painted): then only after `repaintMs`.
 *  3. Processing is left on an end from a source that announces ends, or on a stable ready screen
 *     that no living announcing source contradicts by its silence.
 *  4. Evidence older than what decided the present status is dropped. Unknown never overwrites.
 */
import type { Announces, Claim, ClaimKind, Evidence, EvidenceSource, Status, StatusReason } from './status.ts'
import { evidenceSources } from './status.ts'

/** A terminal interface repaints within this time after its turn ended; a busy look meanwhile is the old picture. */
export const repaintMs = 1_500
/** How many pieces of evidence `cao explain` can show. */
export const trailMax = 40

export type TrailEntry = {
  readonly evidence: Evidence
  readonly effect: 'took' | 'kept' | 'dropped'
  readonly why: string
}

export type StatusState = {
  readonly status: Status
  readonly reason: StatusReason
  readonly sinceMs: number
  readonly detail: string | undefined
  readonly because: Evidence | undefined
  readonly turnsEnded: number
  /** Sources that have spoken in this life of the agent. */
  readonly heard: readonly EvidenceSource[]
  readonly lastEndedAtMs: number | undefined
  readonly trail: readonly TrailEntry[]
}

export function initialStatus(nowMs: number): StatusState {
  return {
    status: 'unknown',
    reason: 'starting',
    sinceMs: nowMs,
    detail: undefined,
    because: undefined,
    turnsEnded: 0,
    heard: [],
    lastEndedAtMs: undefined,
    trail: [],
  }
}

type Decision =
  | { readonly effect: 'took'; readonly status: Status; readonly reason: StatusReason; readonly detail?: string }
  | { readonly effect: 'kept' | 'dropped'; readonly why: string }

const rank = (source: EvidenceSource): number => evidenceSources.indexOf(source)
const isDead = (state: StatusState): boolean => state.reason === 'exited' || state.reason === 'lost'

/** Whether a source better than `source` has spoken in this life and always announces `kind`. */
function hasBetterAnnouncer(
  state: StatusState,
  announces: Announces,
  source: EvidenceSource,
  kind: ClaimKind,
): boolean {
  return state.heard.some((other) => rank(other) < rank(source) && (announces[other] ?? []).includes(kind))
}

function take(status: Status, reason: StatusReason, detail?: string): Decision {
  return detail === undefined ? { effect: 'took', status, reason } : { effect: 'took', status, reason, detail }
}
const kept = (why: string): Decision => ({ effect: 'kept', why })
const dropped = (why: string): Decision => ({ effect: 'dropped', why })

function decideReady(state: StatusState, evidence: Evidence, announces: Announces, isStable: boolean): Decision {
  const hasWorked = state.turnsEnded > 0 || state.status === 'processing' || state.status === 'waiting_user_answer'
  const rested: Decision = hasWorked ? take('completed', 'turn_ended') : take('idle', 'ready')
  if (state.status === 'unknown') return rested
  if (state.status === 'idle' || state.status === 'completed') return kept('already at rest')
  if (!isStable) return kept('one quiet screen is not enough to end a turn')
  const ending: ClaimKind = state.status === 'waiting_user_answer' ? 'question_closed' : 'turn_ended'
  if (hasBetterAnnouncer(state, announces, evidence.source, ending)) {
    return kept(`a better source announces ${ending} and has not`)
  }
  return state.status === 'error' ? kept('an error stays until the next turn') : rested
}

function decideBusy(state: StatusState, evidence: Evidence, announces: Announces, reason: StatusReason): Decision {
  if (state.status === 'processing')
    return state.reason === reason ? kept('already processing') : take('processing', reason)
  if (
    state.status === 'waiting_user_answer' &&
    hasBetterAnnouncer(state, announces, evidence.source, 'question_closed')
  ) {
    return kept('a better source announces the end of the question and has not')
  }
  const isRepaint = state.lastEndedAtMs !== undefined && evidence.atMs < state.lastEndedAtMs + repaintMs
  if (isRepaint && hasBetterAnnouncer(state, announces, evidence.source, 'turn_started')) {
    return dropped('the picture of a turn that just ended')
  }
  return take('processing', reason)
}

function decideEnd(state: StatusState, claim: Extract<Claim, { kind: 'turn_ended' }>): Decision {
  switch (claim.outcome) {
    case 'answered':
      return take('completed', 'turn_ended')
    case 'interrupted':
      return take('idle', 'interrupted')
    case 'failed':
      return state.status === 'error' ? kept('the error is already known') : take('error', 'api_error')
  }
}

/** What death, or a backend that is silent, does; undefined for every other claim. */
function decideDeath(state: StatusState, claim: Claim): Decision | undefined {
  if (claim.kind === 'lost') return take('error', 'lost', claim.why)
  if (claim.kind === 'backend_silent') return take('unknown', 'backend_silent')
  if (claim.kind !== 'exited') return undefined
  const isClean = claim.code === 0 && (state.status === 'completed' || state.status === 'idle')
  const how = claim.signal ?? (claim.code === undefined ? 'unseen' : `code ${claim.code}`)
  return take(isClean ? 'completed' : 'error', 'exited', `the agent's program ended (${how})`)
}

function decide(state: StatusState, evidence: Evidence, announces: Announces): Decision {
  const { claim } = evidence
  if (claim.kind === 'launched') return take('unknown', 'starting')
  if (isDead(state)) return dropped('the agent has ended')
  const death = decideDeath(state, claim)
  if (death !== undefined) return death
  if (
    state.because !== undefined &&
    evidence.atMs < state.because.atMs &&
    rank(evidence.source) > rank(state.because.source)
  ) {
    return dropped('older than what decided the present status')
  }
  switch (claim.kind) {
    case 'ready':
      return decideReady(state, evidence, announces, claim.isStable)
    case 'busy':
      return decideBusy(state, evidence, announces, claim.reason)
    case 'turn_started':
      return decideBusy(state, evidence, announces, 'turn')
    case 'turn_ended':
      return decideEnd(state, claim)
    case 'waiting':
      if (state.status === 'waiting_user_answer' && state.detail === claim.question.text) return kept('already asked')
      return take('waiting_user_answer', claim.reason, claim.question.text)
    case 'question_closed':
      return state.status === 'waiting_user_answer' ? take('processing', 'turn') : kept('no question was open')
    case 'failed':
      return take('error', claim.reason, claim.detail)
    case 'exited':
    case 'lost':
    case 'backend_silent':
      return dropped('decided above')
  }
}

/** The next state. Errors: none; evidence that changes nothing leaves its trace in `trail`. */
export function reduceStatus(state: StatusState, evidence: Evidence, announces: Announces): StatusState {
  const decision = decide(state, evidence, announces)
  const entry: TrailEntry = {
    evidence,
    effect: decision.effect,
    why: decision.effect === 'took' ? `${decision.status} (${decision.reason})` : decision.why,
  }
  const trail = [...state.trail, entry].slice(-trailMax)
  const isLaunch = evidence.claim.kind === 'launched'
  const heard = isLaunch ? [] : state.heard.includes(evidence.source) ? state.heard : [...state.heard, evidence.source]
  const isEnd = evidence.claim.kind === 'turn_ended' && !isDead(state)
  const noted = {
    ...state,
    trail,
    heard,
    turnsEnded: isLaunch ? 0 : isEnd ? state.turnsEnded + 1 : state.turnsEnded,
    lastEndedAtMs: isLaunch ? undefined : isEnd ? evidence.atMs : state.lastEndedAtMs,
  }
  if (decision.effect !== 'took') return noted
  const isSame = decision.status === state.status && decision.reason === state.reason
  return {
    ...noted,
    status: decision.status,
    reason: decision.reason,
    detail: decision.detail,
    because: evidence,
    sinceMs: isSame ? state.sinceMs : evidence.atMs,
    // A turn that a stable screen ended counts as ended, so that the next rest is again "completed".
    turnsEnded: decision.status === 'completed' && noted.turnsEnded === 0 ? 1 : noted.turnsEnded,
  }
}

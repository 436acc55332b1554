/**
 * Evidence in, status out: pure and replayable. Rules, in order:
 *  1. Death first, and for good: after exited or lost only a new `launched` counts, and what a former life said is dropped.
 *  2. The same piece of evidence twice is one. Evidence that is older than what decided the present status, and of no
 *     better source, is dropped.
 *  3. Waiting is entered at once; processing, too, unless the turn just ended and a better source announces starts (the
 *     screen is still being painted): then only after `repaintMs`. So with a question that was just answered.
 *  4. Processing is left on an announced end, or on an error or a stable ready screen that no better source contradicts. A source
 *     contradicts by its silence when it announces ends and has itself told of the beginning; one that announces
 *     beginnings and told of none does not believe in this turn, and holds nothing up.
 *     A screen that has not shown the turn yet does not end it either: it may be the picture of before.
 *  5. Unknown never overwrites. A silent backend only covers what is known: the next evidence is weighed against that.
 *  6. A turn's end is counted once, however many sources tell of it.
 */
import type {
  Announces,
  Claim,
  ClaimKind,
  Evidence,
  EvidenceSource,
  Status,
  StatusReason,
  TurnOutcome,
} from './status.ts'
import { evidenceSources } from './status.ts'

/** A terminal interface repaints within this time after its turn ended; a busy look meanwhile is the old picture. */
export const repaintMs = 1_500
/** A program on a busy machine shows within this time that it works on what it took. */
export const firstPaintMs = 10_000
/** How many pieces of evidence `cao explain` can show. */
export const trailMax = 40
/** How much older than the launch evidence of the new life may look: some sources cut their times to whole seconds. */
export const launchSkewMs = 1_000
/** Another source that tells of an end within this time, with no beginning in between, tells of the same end. */
export const sameEndMs = 10_000

export type TrailEntry = {
  readonly evidence: Evidence
  readonly effect: 'took' | 'kept' | 'dropped'
  readonly why: string
}

/** What is outwardly said, and why. */
type Said = {
  readonly status: Status
  readonly reason: StatusReason
  readonly sinceMs: number
  readonly detail: string | undefined
  readonly because: Evidence | undefined
}

export type StatusState = Said & {
  readonly turnsEnded: number
  /** Sources that have spoken in this life of the agent. */
  readonly heard: readonly EvidenceSource[]
  /** Sources that told of the turn that runs, and of the question that is open. */
  readonly runningBy: readonly EvidenceSource[]
  readonly askingBy: readonly EvidenceSource[]
  readonly launchedAtMs: number | undefined
  readonly lastEndedAtMs: number | undefined
  readonly lastEndedBy: EvidenceSource | undefined
  readonly lastClosedAtMs: number | undefined
  /** What a silent backend covers. */
  readonly covered: Said | undefined
  readonly trail: readonly TrailEntry[]
}

/** Of one life of the agent: nothing of it outlives a launch. */
const newLife = {
  turnsEnded: 0,
  heard: [],
  runningBy: [],
  askingBy: [],
  lastEndedAtMs: undefined,
  lastEndedBy: undefined,
  lastClosedAtMs: undefined,
  covered: undefined,
} as const satisfies Partial<StatusState>

export function initialStatus(nowMs: number): StatusState {
  return {
    ...newLife,
    status: 'unknown',
    reason: 'starting',
    sinceMs: nowMs,
    detail: undefined,
    because: undefined,
    launchedAtMs: undefined,
    trail: [],
  }
}

type Taken = {
  readonly effect: 'took'
  readonly status: Status
  readonly reason: StatusReason
  readonly detail: string | undefined
}
type Decision = (Taken | { readonly effect: 'kept' | 'dropped'; readonly why: string }) & {
  /** Whether this is how we learn that a turn ended. */
  readonly endsTurn?: true
}

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

/** Whether the silence of a better source says that the turn, or the question, has not ended; rule 4. */
function isHeldOpen(
  state: StatusState,
  announces: Announces,
  source: EvidenceSource,
  what: 'turn' | 'question',
): boolean {
  const [end, beginning, tellers] =
    what === 'question'
      ? (['question_closed', 'waiting', state.askingBy] as const)
      : (['turn_ended', 'turn_started', state.runningBy] as const)
  return state.heard.some((other) => {
    const announced = announces[other] ?? []
    if (rank(other) >= rank(source) || !announced.includes(end)) return false
    return tellers.includes(other) || !announced.includes(beginning)
  })
}

function take(status: Status, reason: StatusReason, detail?: string): Taken {
  return { effect: 'took', status, reason, detail }
}
const kept = (why: string): Decision => ({ effect: 'kept', why })
const dropped = (why: string): Decision => ({ effect: 'dropped', why })
const contradicted = 'a better source announces the end and has not'

const isAsking = ({ status }: StatusState): boolean => status === 'waiting_user_answer'

/** Dialogs of the start-up are not part of a turn. */
export function isInTurn(state: StatusState): boolean {
  if (state.status === 'processing') return true
  return state.status === 'waiting_user_answer' && (state.reason === 'permission' || state.reason === 'question')
}

/** With a question of a turn open, both have ended, or neither. */
function isEndContradicted(state: StatusState, announces: Announces, source: EvidenceSource): boolean {
  if (isInTurn(state) && isHeldOpen(state, announces, source, 'turn')) return true
  return isAsking(state) && isHeldOpen(state, announces, source, 'question')
}

/** Whether that source has not shown yet what a better one told of: the turn. */
function isFromBefore(state: StatusState, { source, atMs }: Evidence, announces: Announces): boolean {
  if (state.status !== 'processing' || state.runningBy.includes(source)) return false
  return atMs < state.sinceMs + firstPaintMs && hasBetterAnnouncer(state, announces, source, 'turn_started')
}

function decideReady(state: StatusState, evidence: Evidence, announces: Announces, isStable: boolean): Decision {
  const hasWorked = state.turnsEnded > 0 || isInTurn(state)
  const rested = hasWorked ? take('completed', 'turn_ended') : take('idle', 'ready')
  if (state.status === 'unknown') return rested
  if (state.status === 'idle' || state.status === 'completed') return kept('already at rest')
  if (state.status === 'error') return kept('an error stays until the next turn')
  if (!isStable) return kept('one quiet screen is not enough to end a turn')
  if (isEndContradicted(state, announces, evidence.source)) return kept(contradicted)
  if (isFromBefore(state, evidence, announces)) return kept('the picture of before the turn')
  return isInTurn(state) ? { ...rested, endsTurn: true } : rested
}

function decideBusy(state: StatusState, evidence: Evidence, announces: Announces, reason: StatusReason): Decision {
  if (state.status === 'processing')
    return state.reason === reason ? kept('already processing') : take('processing', reason)
  if (isAsking(state) && evidence.atMs < (state.because?.atMs ?? 0)) {
    return kept('the question came after it')
  }
  if (isAsking(state) && isHeldOpen(state, announces, evidence.source, 'question')) {
    return kept('a better source announces the end of the question and has not')
  }
  const isRepaint = state.lastEndedAtMs !== undefined && evidence.atMs < state.lastEndedAtMs + repaintMs
  if (isRepaint && hasBetterAnnouncer(state, announces, evidence.source, 'turn_started')) {
    return dropped('the picture of a turn that just ended')
  }
  return take('processing', reason)
}

function decideWaiting(
  state: StatusState,
  evidence: Evidence,
  { reason, question }: Extract<Claim, { kind: 'waiting' }>,
  announces: Announces,
): Decision {
  const isAsked = isAsking(state)
  if (isAsked && state.detail === question.text) return kept('already asked')
  if (isAsked && state.askingBy.some((other) => rank(other) < rank(evidence.source))) {
    return kept('a better source has told this question')
  }
  const isRepaint = state.lastClosedAtMs !== undefined && evidence.atMs < state.lastClosedAtMs + repaintMs
  if (isRepaint && hasBetterAnnouncer(state, announces, evidence.source, 'waiting')) {
    return dropped('the picture of a question that was just answered')
  }
  return take('waiting_user_answer', reason, question.text)
}

/** Whether another source told of this end already, and nothing began since. */
function isSameEnd(state: StatusState, evidence: Evidence): boolean {
  if (state.lastEndedAtMs === undefined || state.lastEndedBy === evidence.source) return false
  if (state.runningBy.length > 0 || state.askingBy.length > 0) return false
  return evidence.atMs < state.lastEndedAtMs + sameEndMs
}

function decideEnd(state: StatusState, evidence: Evidence, outcome: TurnOutcome): Decision {
  const ended = {
    answered: take('completed', 'turn_ended'),
    interrupted: take('idle', 'interrupted'),
    failed: take('error', 'api_error'),
  }[outcome]
  if (isSameEnd(state, evidence)) {
    const isBetter = state.lastEndedBy !== undefined && rank(evidence.source) < rank(state.lastEndedBy)
    return isBetter && ended.status !== state.status ? ended : kept('another source told of this end')
  }
  if (outcome === 'failed' && state.status === 'error') return { ...kept('the error is already known'), endsTurn: true }
  return { ...ended, endsTurn: true }
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

function isOlder(state: StatusState, evidence: Evidence): boolean {
  const { because } = state
  return because !== undefined && evidence.atMs < because.atMs && rank(evidence.source) >= rank(because.source)
}

function decide(state: StatusState, evidence: Evidence, announces: Announces): Decision {
  const { claim } = evidence
  const lifeBeganAtMs = state.launchedAtMs ?? Number.NEGATIVE_INFINITY
  if (claim.kind === 'launched') {
    return evidence.atMs > lifeBeganAtMs ? take('unknown', 'starting') : dropped('this launch is known')
  }
  if (isDead(state)) return dropped('the agent has ended')
  if (evidence.atMs < lifeBeganAtMs - launchSkewMs) return dropped('told of an earlier life')
  const death = decideDeath(state, claim)
  if (death !== undefined) return death
  if (isOlder(state, evidence)) return dropped('older than what decided the present status')
  switch (claim.kind) {
    case 'ready':
      return decideReady(state, evidence, announces, claim.isStable)
    case 'busy':
      return decideBusy(state, evidence, announces, claim.reason)
    case 'turn_started':
      return decideBusy(state, evidence, announces, 'turn')
    case 'turn_ended':
      return decideEnd(state, evidence, claim.outcome)
    case 'waiting':
      return decideWaiting(state, evidence, claim, announces)
    case 'question_closed':
      return isAsking(state) ? take('processing', 'turn') : kept('no question was open')
    case 'failed':
      // A tool that prints an error is none of the turn.
      if (isInTurn(state) && isEndContradicted(state, announces, evidence.source)) return kept(contradicted)
      return take('error', claim.reason, claim.detail)
    case 'exited':
    case 'lost':
    case 'backend_silent':
      return dropped('decided above')
  }
}

const add = (sources: readonly EvidenceSource[], source: EvidenceSource): readonly EvidenceSource[] =>
  sources.includes(source) ? sources : [...sources, source]

/** Sources that told of this turn before the one that announces it was read, and were taken for pictures of the former. */
function listTooEarly({ trail, runningBy }: StatusState, { claim, atMs, source }: Evidence): readonly EvidenceSource[] {
  if (claim.kind !== 'turn_started') return []
  const early = trail.flatMap(({ effect, evidence: told }) =>
    effect === 'dropped' && told.claim.kind === 'busy' && told.atMs >= atMs ? [told.source] : [],
  )
  return [...new Set(early)].filter((each) => each !== source && !runningBy.includes(each))
}

/** Who holds the turn and the question open after this evidence. */
function noteTellers(state: StatusState, evidence: Evidence): Pick<StatusState, 'runningBy' | 'askingBy'> {
  const { runningBy, askingBy } = state
  switch (evidence.claim.kind) {
    case 'busy':
    case 'turn_started':
      return {
        runningBy: [...add(runningBy, evidence.source), ...listTooEarly(state, evidence)],
        askingBy: askingBy.filter((each) => each !== evidence.source),
      }
    case 'waiting':
      return { runningBy, askingBy: add(askingBy, evidence.source) }
    case 'question_closed':
      return { runningBy, askingBy: [] }
    case 'turn_ended':
      return { runningBy: [], askingBy: [] }
    case 'ready':
    case 'failed':
    case 'exited':
    case 'lost':
    case 'backend_silent':
    case 'launched':
      return { runningBy, askingBy }
  }
}

const isTold = (state: StatusState, evidence: Evidence): boolean =>
  state.trail.some(({ evidence: told }) => {
    if (told.source !== evidence.source || told.atMs !== evidence.atMs || told.raw !== evidence.raw) return false
    return JSON.stringify(told.claim) === JSON.stringify(evidence.claim)
  })

/** Appends; a look that changed nothing takes the place of the one before that said the same, so that the trail tells a longer story. */
function addToTrail(trail: readonly TrailEntry[], entry: TrailEntry): readonly TrailEntry[] {
  const last = trail.at(-1)
  const isRepeat =
    last !== undefined &&
    entry.effect !== 'took' &&
    ['ready', 'busy', 'waiting'].includes(entry.evidence.claim.kind) &&
    last.evidence.claim.kind === entry.evidence.claim.kind &&
    last.effect === entry.effect &&
    last.why === entry.why &&
    last.evidence.source === entry.evidence.source &&
    last.evidence.raw === entry.evidence.raw
  return [...(isRepeat ? trail.slice(0, -1) : trail), entry].slice(-trailMax)
}

const pickSaid = ({ status, reason, sinceMs, detail, because }: Said): Said => ({
  status,
  reason,
  sinceMs,
  detail,
  because,
})

/** What is remembered of evidence that was not dropped, whether or not it changes the status. */
function note(base: StatusState, evidence: Evidence, decision: Decision): StatusState {
  const closed = evidence.claim.kind === 'question_closed' ? { lastClosedAtMs: evidence.atMs } : {}
  const noted = { ...base, ...noteTellers(base, evidence), ...closed, heard: add(base.heard, evidence.source) }
  const isAtRest = decision.effect === 'took' && (decision.status === 'idle' || decision.status === 'completed')
  const open = isAtRest || decision.endsTurn === true ? { runningBy: [], askingBy: [] } : {}
  if (decision.endsTurn !== true) return { ...noted, ...open }
  return {
    ...noted,
    ...open,
    turnsEnded: base.turnsEnded + 1,
    lastEndedAtMs: evidence.atMs,
    lastEndedBy: evidence.source,
  }
}

/** The next state. Errors: none; evidence that changes nothing leaves its trace in `trail`. */
export function reduceStatus(state: StatusState, evidence: Evidence, announces: Announces): StatusState {
  if (isTold(state, evidence)) return state
  const base = state.covered === undefined ? state : { ...state, ...state.covered, covered: undefined }
  const decision = decide(base, evidence, announces)
  const why = decision.effect === 'took' ? `${decision.status} (${decision.reason})` : decision.why
  const trail = addToTrail(state.trail, { evidence, effect: decision.effect, why })
  if (decision.effect === 'dropped') return { ...state, trail }
  const isLaunch = evidence.claim.kind === 'launched'
  const noted = isLaunch ? { ...base, ...newLife, launchedAtMs: evidence.atMs } : note(base, evidence, decision)
  if (decision.effect !== 'took') return { ...noted, trail }
  const isSame = decision.status === base.status && decision.reason === base.reason
  return {
    ...noted,
    trail,
    status: decision.status,
    reason: decision.reason,
    detail: decision.detail,
    because: evidence,
    sinceMs: isSame ? base.sinceMs : evidence.atMs,
    covered: evidence.claim.kind === 'backend_silent' ? pickSaid(base) : undefined,
  }
}

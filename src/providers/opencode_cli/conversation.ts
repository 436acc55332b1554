/**
 * What the events of one agent add up to: a pure step from state and event to the next state and what it tells CAO.
 *
 * One conversation is ours. Sub-agents have sessions below it: their permissions and questions are asked in our
 * terminal, all else of them is theirs. A person may go on in another session of the same program: the first message
 * typed there makes it ours, and the program's event bus is its own, so nobody else's sessions can be seen here.
 */
import type { Claim, TurnOutcome } from '../../domain/status.ts'
import type { AssistantMessage, OpencodeEvent, OpenRequest, SessionStatus, VendorError } from './event.ts'

/** What a step tells, in order. */
export type Tell =
  | { readonly kind: 'claim'; readonly claim: Claim }
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'bound'; readonly sessionId: string }

export type Conversation = {
  readonly sessionId: string | undefined
  /** Sessions of sub-agents. */
  readonly children: readonly string[]
  /** undefined: not known yet. */
  readonly isBusy: boolean | undefined
  readonly isRetrying: boolean
  /** Messages of the person whose text comes with a later event; and parts whose text was told. */
  readonly userMessages: readonly string[]
  readonly toldParts: readonly string[]
  /** Messages in another session. The text alone moves us there: a message is announced again when its turn ends. */
  readonly foreignMessages: readonly string[]
  readonly open: readonly OpenRequest[]
  readonly answer: Answer | undefined
  /** Of the turn that runs. */
  readonly error: VendorError | undefined
}

type Answer = {
  readonly message: AssistantMessage
  readonly texts: Readonly<Record<string, string>>
  /** Seen from its beginning, so that no text is missing. */
  readonly isWhole: boolean
}

/** Ids that are remembered of each kind; older ones are of ended turns. */
const remembered = 200
const aborted = 'MessageAbortedError'

export function beginConversation(sessionId: string | undefined): Conversation {
  return {
    sessionId,
    children: [],
    isBusy: undefined,
    isRetrying: false,
    userMessages: [],
    toldParts: [],
    foreignMessages: [],
    open: [],
    answer: undefined,
    error: undefined,
  }
}

export type Step = { readonly state: Conversation; readonly tells: readonly Tell[] }

const quiet = (state: Conversation): Step => ({ state, tells: [] })
const claim = (one: Claim): Tell => ({ kind: 'claim', claim: one })
const remember = (list: readonly string[], id: string) => [...list.filter((one) => one !== id), id].slice(-remembered)

export function stepConversation(state: Conversation, event: OpencodeEvent): Step {
  switch (event.kind) {
    case 'session_created':
      return quiet(isBelow(state, event.parentId) ? addChild(state, event.sessionId) : state)
    case 'user_message':
      return takeUserMessage(state, event.sessionId, event.messageId)
    case 'text_part':
      return takeText(state, event)
    case 'assistant_message':
      return quiet(event.message.sessionId === state.sessionId ? takeAssistant(state, event.message) : state)
    case 'status':
      return event.sessionId === state.sessionId ? takeStatus(state, event.status) : quiet(state)
    case 'error':
      return event.sessionId === state.sessionId ? takeError(state, event.error) : quiet(state)
    case 'asked':
      return isBelow(state, event.request.sessionId) ? ask(state, event.request) : quiet(state)
    case 'closed':
      return close(state, event.requestId)
  }
}

const isBelow = (state: Conversation, id: string | undefined): boolean =>
  id !== undefined && (id === state.sessionId || state.children.includes(id))

const addChild = (state: Conversation, id: string): Conversation => ({
  ...state,
  children: remember(state.children, id),
})

function takeUserMessage(state: Conversation, sessionId: string, messageId: string): Step {
  if (state.children.includes(sessionId)) return quiet(state)
  if (sessionId === state.sessionId) {
    return quiet({ ...state, userMessages: remember(state.userMessages, messageId) })
  }
  return quiet({ ...state, foreignMessages: remember(state.foreignMessages, messageId) })
}

type TextPart = Extract<OpencodeEvent, { kind: 'text_part' }>

function takeText(state: Conversation, part: TextPart): Step {
  const { sessionId, messageId, partId, text } = part
  if (sessionId !== state.sessionId) {
    if (!state.foreignMessages.includes(messageId)) return quiet(state)
    const moved = { ...beginConversation(sessionId), isBusy: false, userMessages: [messageId], toldParts: [partId] }
    return {
      state: moved,
      tells: [
        { kind: 'bound', sessionId },
        { kind: 'accepted', text },
      ],
    }
  }
  if (state.userMessages.includes(messageId)) {
    if (state.toldParts.includes(partId)) return quiet(state)
    return { state: { ...state, toldParts: remember(state.toldParts, partId) }, tells: [{ kind: 'accepted', text }] }
  }
  const { answer } = state
  if (answer?.message.id !== messageId) return quiet(state)
  return quiet({ ...state, answer: { ...answer, texts: { ...answer.texts, [partId]: text } } })
}

function takeAssistant(state: Conversation, message: AssistantMessage): Conversation {
  const isSame = state.answer?.message.id === message.id
  const before = isSame ? state.answer : undefined
  const answer = { message, texts: before?.texts ?? {}, isWhole: before?.isWhole ?? !message.isCompleted }
  return { ...state, answer }
}

function takeStatus(state: Conversation, status: SessionStatus): Step {
  switch (status.kind) {
    case 'retry':
      return {
        state: { ...state, isBusy: true, isRetrying: true },
        tells: [claim({ kind: 'busy', reason: 'retrying' })],
      }
    case 'busy':
      if (state.isBusy === true && !state.isRetrying) return quiet(state)
      return {
        state: { ...state, isBusy: true, isRetrying: false, error: state.isBusy === true ? state.error : undefined },
        tells: [claim(state.isRetrying ? { kind: 'busy', reason: 'turn' } : { kind: 'turn_started' })],
      }
    case 'idle':
      return endTurn(state)
  }
}

/** Ends the turn that runs, if one does: after an abort `idle` comes twice. */
function endTurn(state: Conversation): Step {
  const rested = { ...state, isBusy: false, isRetrying: false, open: [], error: undefined }
  if (state.isBusy !== true) return quiet(rested)
  return { state: rested, tells: [claim(describeEnd(state))] }
}

function describeEnd(state: Conversation): Claim {
  const outcome = outcomeOf(state.error, state.answer?.message)
  const isExact = outcome === 'answered' && state.answer?.isWhole === true
  return {
    kind: 'turn_ended',
    outcome,
    answer: isExact ? joinTexts(Object.values(state.answer?.texts ?? {})) : undefined,
  }
}

/** The answer that the text parts of one message make. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n')
}

/**
 * How the turn ended whose last message is `last`. An abort may leave a message with neither error nor finish (during
 * a retry), a refused permission one that still wanted a tool.
 */
export function outcomeOf(error: VendorError | undefined, last: AssistantMessage | undefined): TurnOutcome {
  const cause = error ?? last?.error
  if (cause !== undefined) return cause.name === aborted ? 'interrupted' : 'failed'
  if (last === undefined) return 'answered'
  return last.finish === undefined || last.finish === 'tool-calls' ? 'interrupted' : 'answered'
}

function takeError(state: Conversation, error: VendorError): Step {
  const next = { ...state, error }
  if (error.name === aborted) return quiet(next)
  const reason = error.httpStatus === 429 ? 'rate_limited' : 'api_error'
  return { state: next, tells: [claim({ kind: 'failed', reason, detail: error.message })] }
}

const askClaim = ({ reason, text, options, id }: OpenRequest): Tell =>
  claim({ kind: 'waiting', reason, question: { text, options, vendorId: id } })

function ask(state: Conversation, request: OpenRequest): Step {
  if (state.open.some((one) => one.id === request.id)) return quiet(state)
  const next = { ...state, open: [...state.open, request] }
  // The program shows one at a time, the oldest first.
  return { state: next, tells: state.open.length === 0 ? [askClaim(request)] : [] }
}

function close(state: Conversation, requestId: string): Step {
  if (!state.open.some((one) => one.id === requestId)) return quiet(state)
  const open = state.open.filter((one) => one.id !== requestId)
  const [next] = open
  return {
    state: { ...state, open },
    tells: [claim({ kind: 'question_closed' }), ...(next === undefined ? [] : [askClaim(next)])],
  }
}

/** A text of the person's side, as the record holds it. */
export type TakenText = { readonly messageId: string; readonly partId: string; readonly text: string }

/** What the program says of our session when asked, after a connection was made (again). */
export type Facts = {
  readonly status: SessionStatus
  readonly requests: readonly OpenRequest[]
  readonly children: readonly string[]
  /** The last message of the assistant, for a turn that ended unseen. */
  readonly last: AssistantMessage | undefined
  /** Taken while nobody listened. */
  readonly taken: readonly TakenText[]
}

const takeUnseen = (state: Conversation, { messageId, partId }: TakenText): Conversation => ({
  ...state,
  userMessages: remember(state.userMessages, messageId),
  toldParts: remember(state.toldParts, partId),
})

/** Closes the gap that a lost connection left. */
export function syncConversation(state: Conversation, facts: Facts): Step {
  const unseen = facts.taken.filter(({ partId }) => !state.toldParts.includes(partId))
  const accepted = unseen.map(({ text }): Tell => ({ kind: 'accepted', text }))
  const known = unseen.reduce(takeUnseen, facts.children.reduce(addChild, state))
  const base: Conversation = { ...known, answer: undefined, error: undefined }
  if (facts.status.kind === 'idle') {
    const rested = { ...base, isBusy: false, isRetrying: false, open: [] }
    if (state.isBusy !== true && unseen.length === 0) return quiet(rested)
    const started = state.isBusy === true ? [] : [claim({ kind: 'turn_started' })]
    const outcome = outcomeOf(undefined, facts.last)
    return {
      state: rested,
      tells: [...accepted, ...started, claim({ kind: 'turn_ended', outcome, answer: undefined })],
    }
  }
  const steps = takeStatus({ ...base, open: [] }, facts.status)
  const open = facts.requests.filter((request) => isBelow(known, request.sessionId))
  const [first] = open
  const isClosed = state.open.length > 0 && first === undefined
  return {
    state: { ...steps.state, open },
    tells: [
      ...accepted,
      ...steps.tells,
      ...(isClosed ? [claim({ kind: 'question_closed' })] : []),
      ...(first === undefined ? [] : [askClaim(first)]),
    ],
  }
}

/**
 * The channels of one running opencode: its event stream, followed for as long as the program lives and taken up again
 * when it breaks, and its record of the conversation, read when somebody asks.
 *
 * A new agent gets a session before its first prompt, so that its id is known from the start: made over the API with
 * our terminal's id as metadata (found again after a crash in between), and shown by the interface on request.
 * No claim is made that it is ready for input: the screen shows that.
 */
import { readFile } from 'node:fs/promises'
import { Scope } from '../../async/scope.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { QuestionText } from '../../domain/status.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../fields.ts'
import type { AnswerOutcome, ChannelAnswer, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { type ApiOutcome, OpencodeApi } from './api.ts'
import {
  beginConversation,
  type Conversation,
  type Facts,
  type Step,
  stepConversation,
  syncConversation,
} from './conversation.ts'
import { parseEvent, readPermission, readQuestion, readStatus } from './event.ts'
import { type OpencodeBinding, parseBinding } from './launch.ts'
import { findLastAnswer, findLastAssistant, findTaken, type RecordedMessage, readMessages } from './messages.ts'
import { planReply } from './reply.ts'

/** Between two tries to connect; the longer one once the program has been up. Units: ms. */
const firstRetryMs = 150
const laterRetryMs = 1_000
/** Requests for a session, when they are not answered. */
const adoptTriesMax = 10
/** For the questions that are open, on a busy machine. */
const questionTriesMax = 5
const adoptGapMs = 500
/**
 * The interface does not listen yet when its server answers first, on a busy machine for a long while. Showing a session
 * is asked for again with growing gaps; it does nothing where it is shown already, and a draft stays. Units: ms.
 */
const showLimitMs = 60_000
const showGapsMs = { first: 400, last: 3_000, growth: 1.25 }
/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 50
/** Messages of the record that are looked at. */
const answerMessagesMax = 10
const proofMessagesMax = 400
const metadataName = 'caoTerminal'

export class OpencodeSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: OpencodeBinding | undefined
  readonly #scope: Scope
  #state: Conversation
  #hasConnected = false
  /** What was taken later than this, was not listened to. */
  #heardUntilMs: number

  constructor(context: SignalContext) {
    this.#context = context
    this.#heardUntilMs = context.clock.nowMs()
    this.#binding = parseBinding(context.binding)
    this.#state = beginConversation(this.#binding?.vendorSessionId)
    this.#scope = new Scope(context.clock, (name, error) => {
      context.log.write('error', 'channel of opencode failed', { name, error: String(error) })
    })
    const binding = this.#binding
    if (binding === undefined) context.log.write('warn', 'the port of opencode is not known', {})
    else this.#scope.spawn('events', (signal) => this.#run(binding, signal))
  }

  /** opencode has no hooks: it tells by its event stream. */
  handleHook(event: HookEvent): void {
    this.#context.log.write('debug', 'hook event without a hook', { hook: event.name })
  }

  async loadAnswer(waiting: Waiting): Promise<AnswerOutcome> {
    for (;;) {
      const messages = await this.#loadMessages(answerMessagesMax, waiting.signal)
      // A busy program lets a request time out and answers the next.
      if (messages.kind === 'failed') {
        if (messages.isLate === true && (await this.#pause(rereadGapMs, waiting.signal))) continue
        return { kind: 'none', why: messages.why }
      }
      const answer = findLastAnswer(readMessages(messages.body))
      if (answer.kind === 'exact') return { kind: 'exact', text: answer.text, source: 'api' }
      if (answer.kind === 'none') return answer
      if (!(await this.#pause(rereadGapMs, waiting.signal))) return { kind: 'none', why: 'the turn has not ended' }
    }
  }

  async answer(question: QuestionText, answer: string, { signal }: Waiting): Promise<ChannelAnswer> {
    if (this.#binding === undefined || question.vendorId === undefined) return { kind: 'not offered' }
    const api = await this.#openApi(this.#binding)
    let open = await api.get('/question', signal)
    for (let tries = 1; open.kind === 'failed' && tries < questionTriesMax; tries++)
      open = await api.get('/question', signal)
    if (open.kind === 'failed') return { kind: 'refused', why: `opencode did not answer: ${open.why}` }
    const request = listFields(open).find((one) => textOf(one, 'id') === question.vendorId)
    if (request === undefined) return { kind: 'not offered' }
    const plan = planReply(request, answer)
    if (plan.kind === 'refused') return plan
    const said = await api.post(`/question/${question.vendorId}/reply`, { answers: plan.answers }, signal)
    return said.kind === 'ok' ? { kind: 'given' } : { kind: 'refused', why: said.why }
  }

  async findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    const messages = await this.#loadMessages(proofMessagesMax, waiting.signal)
    if (messages.kind === 'failed') return 'unknown'
    const isTaken = readMessages(messages.body).some(
      (message) => message.role === 'user' && message.texts.some(({ text }) => text.includes(token)),
    )
    return isTaken ? 'yes' : 'no'
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }

  async #run(binding: OpencodeBinding, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context
    while (!signal.aborted) {
      const api = await this.#openApi(binding)
      const why = await api.follow(
        { onOpen: () => this.#onOpen(api, signal), onData: (data) => this.#onData(data) },
        signal,
      )
      log.write('debug', 'not connected to opencode', { why, port: binding.port })
      await sleep(clock, this.#hasConnected ? laterRetryMs : firstRetryMs, signal)
    }
  }

  /** The password is read each time: a relaunch writes a new one. */
  async #openApi({ port, passwordFile }: OpencodeBinding): Promise<OpencodeApi> {
    const password = await readFile(passwordFile, 'utf8')
    return new OpencodeApi({ port, password, clock: this.#context.clock })
  }

  async #onOpen(api: OpencodeApi, signal: AbortSignal): Promise<void> {
    this.#hasConnected = true
    if (this.#state.sessionId === undefined) await this.#adoptSession(api, signal)
    const { sessionId } = this.#state
    if (sessionId === undefined) return
    const asked = { sessionId, sinceMs: this.#heardUntilMs, nowMs: this.#context.clock.nowMs() }
    const facts = await loadFacts(api, asked, signal)
    if (facts === undefined) return this.#context.log.write('warn', 'opencode did not tell its state', { sessionId })
    this.#apply(syncConversation(this.#state, facts), 'asked after connecting')
  }

  /** Finds or makes the session of this terminal, and has it shown. */
  async #adoptSession(api: OpencodeApi, signal: AbortSignal): Promise<void> {
    const { terminalId, log } = this.#context
    let sessionId: string | undefined
    // A busy machine lets the first requests time out; what was made all the same is found by the next try.
    for (let tries = 0; sessionId === undefined && tries < adoptTriesMax; tries++) {
      if (tries > 0 && !(await this.#pause(adoptGapMs, signal))) return
      sessionId = (await findSession(api, terminalId, signal)) ?? (await createSession(api, terminalId, signal))
    }
    if (sessionId === undefined) return log.write('warn', 'opencode made no session', { tries: adoptTriesMax })
    this.#apply({ state: beginConversation(sessionId), tells: [{ kind: 'bound', sessionId }] }, 'POST /session')
    this.#scope.spawn('show the session', (scope) => this.#show(api, sessionId, scope))
  }

  /** Until somebody types there, or the time is up; the screen shows whether it worked. */
  async #show(api: OpencodeApi, sessionId: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    const endMs = clock.monotonicMs() + showLimitMs
    for (let gapMs = showGapsMs.first; clock.monotonicMs() < endMs; gapMs *= showGapsMs.growth) {
      if (this.#state.sessionId !== sessionId || this.#state.userMessages.length > 0) return
      await api.post('/tui/select-session', { sessionID: sessionId }, signal)
      await sleep(clock, Math.min(gapMs, showGapsMs.last), signal)
    }
  }

  #onData(data: string): void {
    this.#heardUntilMs = this.#context.clock.nowMs()
    const event = parseEvent(data)
    if (event !== undefined) this.#apply(stepConversation(this.#state, event), event.raw)
  }

  #apply(step: Step, raw: string): void {
    const { emit, clock, binding } = this.#context
    this.#state = step.state
    for (const tell of step.tells) {
      const atMs = clock.nowMs()
      switch (tell.kind) {
        case 'claim':
          emit({ kind: 'claim', source: 'api', claim: tell.claim, atMs, raw })
          break
        case 'accepted':
          emit({ kind: 'accepted', source: 'api', text: tell.text, atMs, raw })
          break
        case 'bound':
          emit({ kind: 'bound', binding: { ...binding, vendorSessionId: tell.sessionId } })
          break
      }
    }
  }

  async #loadMessages(limit: number, signal: AbortSignal): Promise<ApiOutcome> {
    const { sessionId } = this.#state
    if (this.#binding === undefined || sessionId === undefined) {
      return { kind: 'failed', why: 'the conversation of this terminal is not known' }
    }
    if (signal.aborted) return { kind: 'failed', why: 'there was no time' }
    const api = await this.#openApi(this.#binding)
    try {
      return await api.get(`/session/${sessionId}/message?limit=${limit}`, signal)
    } catch (error) {
      if (signal.aborted) return { kind: 'failed', why: 'opencode did not answer in time' }
      throw error
    }
  }

  /** False when the wait is over. */
  async #pause(gapMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#context.clock, gapMs, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }
}

const listFields = (outcome: ApiOutcome): readonly Fields[] =>
  outcome.kind === 'ok' && Array.isArray(outcome.body) ? outcome.body.filter(isFields) : []

async function findSession(api: OpencodeApi, terminalId: string, signal: AbortSignal): Promise<string | undefined> {
  const sessions = listFields(await api.get('/session', signal))
  const ours = sessions.find((session) => textOf(fieldsOf(session, 'metadata'), metadataName) === terminalId)
  return ours === undefined ? undefined : textOf(ours, 'id')
}

async function createSession(api: OpencodeApi, terminalId: string, signal: AbortSignal): Promise<string | undefined> {
  const made = await api.post('/session', { metadata: { [metadataName]: terminalId } }, signal)
  return made.kind === 'ok' && isFields(made.body) ? textOf(made.body, 'id') : undefined
}

type FactsQuery = { readonly sessionId: string; readonly sinceMs: number; readonly nowMs: number }

/** Within this time a program begins to work on what it took, and tells when it ends. Units: ms. */
const beginMs = 10_000

function isJustTaken(last: RecordedMessage | undefined, nowMs: number): boolean {
  return last?.role === 'user' && last.createdMs !== undefined && last.createdMs > nowMs - beginMs
}

async function loadFacts(
  api: OpencodeApi,
  { sessionId, sinceMs, nowMs }: FactsQuery,
  signal: AbortSignal,
): Promise<Facts | undefined> {
  const permissions = listFields(await api.get('/permission', signal)).flatMap((one) => readPermission(one) ?? [])
  const questions = listFields(await api.get('/question', signal)).flatMap((one) => readQuestion(one) ?? [])
  const children = listFields(await api.get(`/session/${sessionId}/children`, signal))
  const recorded = await api.get(`/session/${sessionId}/message?limit=${answerMessagesMax}`, signal)
  const messages = recorded.kind === 'ok' ? readMessages(recorded.body) : []
  // After the messages: a turn whose prompt is among them may not be called ended because it had not begun.
  const status = await api.get('/session/status', signal)
  if (status.kind === 'failed' || !isFields(status.body)) return undefined
  // Sessions at rest are not listed.
  const ours = status.body[sessionId]
  const rested = isJustTaken(messages.at(-1), nowMs) ? ({ kind: 'busy' } as const) : ({ kind: 'idle' } as const)
  return {
    status: isFields(ours) ? readStatus(ours) : rested,
    requests: [...permissions, ...questions],
    children: children.flatMap((child) => textOf(child, 'id') ?? []),
    last: findLastAssistant(messages),
    taken: findTaken(messages, sinceMs),
  }
}

/**
 * The structured channels of one Claude Code: hook events come from the spool, its status file is followed, its transcript
 * is read when somebody asks. They are put together in `conversation.ts`.
 */
import { join } from 'node:path'
import { Scope } from '../../async/scope.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { TurnOutcome } from '../../domain/status.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { beginConversation, type Conversation, type Fact, stepConversation, type Tell } from './conversation.ts'
import { readHook } from './hook-events.ts'
import { type ClaudeBinding, parseBinding } from './launch.ts'
import { StatusFile } from './status-file.ts'
import { findLastTurn, findTranscript, type LastTurn, loadTranscript, type TranscriptOutcome } from './transcript.ts'

/** For the hook that explains an end to be read, before the transcript is asked. Units: ms. */
const settleMs = 300
/** The status file follows an end within 200 ms; what it says after this is of another turn. Units: ms. */
const afterEndMs = 600
/** For a busy machine to write down a prompt that was taken. Units: ms. */
const transcriptLimitMs = 3_000
/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 50

export class ClaudeSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: ClaudeBinding | undefined
  readonly #scope: Scope
  readonly #file: StatusFile | undefined
  #state: Conversation

  constructor(context: SignalContext) {
    const { binding, clock, log } = context
    this.#context = context
    this.#binding = parseBinding(binding)
    this.#scope = new Scope(clock, (name, error) => {
      log.write('error', 'channel of Claude Code failed', { name, error: String(error) })
    })
    this.#state = beginConversation(this.#binding?.vendorSessionId ?? '', this.#binding?.transcript)
    if (this.#binding === undefined) {
      log.write('warn', 'the conversation of this terminal is not known', {})
      return
    }
    const file = new StatusFile({
      dir: join(this.#binding.configDir, 'sessions'),
      sessionId: () => this.#state.sessionId,
      clock,
      onRecord: (record) => this.#take({ kind: 'file', record }, `sessions: ${record.status ?? 'no status'}`),
    })
    this.#file = file
    this.#scope.spawn('status file', (signal) => file.follow(signal))
  }

  handleHook(event: HookEvent): void {
    if (this.#scope.signal.aborted) return
    const fact = readHook(event.name, event.payload)
    if (fact === undefined) {
      return this.#context.log.write('debug', 'hook event says nothing', { hook: event.name, file: event.file })
    }
    this.#take({ kind: 'hook', fact, atMs: event.atMs }, `${event.name} ${event.file}`, event.atMs)
  }

  async loadAnswer(waiting: Waiting, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    for (;;) {
      const { isTurnOpen, answer } = this.#state
      if (answer !== undefined) return { kind: 'exact', text: answer, source: 'hook' }
      const record = await this.#loadRecord()
      const turn = this.#findTurn(record)
      // Text may be followed by more as long as the turn is open.
      if (turn.kind === 'ended' && (!isTurnOpen || which === 'newest')) {
        if (turn.outcome === 'answered') return { kind: 'exact', text: turn.text, source: 'transcript' }
        return { kind: 'none', why: `the turn has no answer: ${turn.outcome}` }
      }
      if (waiting.signal.aborted || !(await this.#pause(rereadGapMs, waiting.signal))) {
        return { kind: 'none', why: record.kind === 'read' ? 'no turn has ended' : 'there is no transcript' }
      }
    }
  }

  async findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    if (this.#binding === undefined || waiting.signal.aborted) return 'unknown'
    const record = await this.#loadRecord()
    const isTaken =
      record.kind === 'read' &&
      record.records.some((one) => (one.kind === 'prompt' || one.kind === 'queued') && one.text.includes(token))
    if (isTaken) return 'yes'
    if (record.kind === 'read') return this.#isBehind(record) ? 'unknown' : 'no'
    // The transcript begins with the first prompt: a program that is there and at rest has taken nothing.
    const file = await this.#file?.load()
    return file === undefined || file.status === 'busy' ? 'unknown' : 'no'
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }

  #take(fact: Fact, raw: string, atMs = this.#context.clock.nowMs()): void {
    const { state, tells } = stepConversation(this.#state, fact)
    this.#state = state
    for (const tell of tells) this.#tell(tell, raw, atMs)
  }

  #tell(tell: Tell, raw: string, atMs: number): void {
    const { emit, binding } = this.#context
    switch (tell.kind) {
      case 'claim':
        return emit({ kind: 'claim', source: tell.source, claim: tell.claim, atMs, raw })
      case 'accepted':
        return emit({ kind: 'accepted', source: 'hook', text: tell.text, atMs, raw })
      case 'bound': {
        const { sessionId, transcript = null } = tell
        return emit({ kind: 'bound', binding: { ...binding, vendorSessionId: sessionId, transcript } })
      }
      case 'look':
        return this.#scope.spawn(tell.after, (signal) => this.#look(tell.after, signal))
    }
  }

  async #look(after: 'after_end' | 'settled', signal: AbortSignal): Promise<void> {
    const { sessionId, openedAtMs } = this.#state
    if (!(await this.#pause(after === 'settled' ? settleMs : afterEndMs, signal))) return
    if (after === 'after_end') {
      const record = await this.#file?.load()
      return this.#take({ kind: 'after_end', record }, 'sessions: after the end of a turn')
    }
    const outcome = await this.#loadOutcome(signal)
    // Another turn may have begun meanwhile, and the file not have told of it yet.
    const isSameTurn = sessionId === this.#state.sessionId && openedAtMs === this.#state.openedAtMs
    if (isSameTurn) this.#take({ kind: 'settled', outcome }, 'sessions: idle')
  }

  /** A turn that ended without a word, or in the middle of a tool, was interrupted. */
  async #loadOutcome(signal: AbortSignal): Promise<TurnOutcome> {
    const endMs = this.#context.clock.monotonicMs() + transcriptLimitMs
    for (;;) {
      const turn = this.#findTurn(await this.#loadRecord())
      if (turn.kind === 'ended') return turn.outcome
      const isLate = this.#context.clock.monotonicMs() >= endMs
      if (turn.kind === 'open' || isLate || !(await this.#pause(rereadGapMs, signal))) return 'interrupted'
    }
  }

  /** The newest turn; none while the transcript lags behind the newest prompt. */
  #findTurn(record: TranscriptOutcome): LastTurn {
    return record.kind !== 'read' || this.#isBehind(record) ? { kind: 'none' } : findLastTurn(record.records)
  }

  #isBehind({ records }: Extract<TranscriptOutcome, { kind: 'read' }>): boolean {
    const { promptId } = this.#state
    return promptId !== undefined && !records.some((one) => one.kind === 'prompt' && one.promptId === promptId)
  }

  async #loadRecord(): Promise<TranscriptOutcome> {
    const { sessionId, transcript } = this.#state
    const known = transcript === undefined ? undefined : await loadTranscript(transcript)
    if (known?.kind === 'read' || this.#binding === undefined) return known ?? { kind: 'missing' }
    const found = await findTranscript(this.#binding.configDir, sessionId)
    return found === undefined ? { kind: 'missing' } : loadTranscript(found)
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

/**
 * The structured channels of a scripted agent: hook events tell at once, its record proves. Nothing stays open: the
 * record is read when somebody asks.
 */
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { parsePayload, readHook } from './hook-events.ts'
import { parseBinding, type ScriptedBinding } from './launch.ts'
import { findTurn, loadRecord } from './transcript.ts'

/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 25

export class ScriptedSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: ScriptedBinding | undefined
  /** The turn whose end was told last. */
  #endedTurn: string | undefined
  #isOpen = true

  constructor(context: SignalContext) {
    this.#context = context
    this.#binding = parseBinding(context.binding)
  }

  handleHook(event: HookEvent): void {
    if (!this.#isOpen) return
    const { emit, log } = this.#context
    const fields = parsePayload(event.payload)
    if (fields === undefined)
      return log.write('debug', 'hook payload is no object', { hook: event.name, file: event.file })
    if (this.#binding !== undefined && fields['sessionId'] !== this.#binding.vendorSessionId) {
      return log.write('debug', 'hook of another conversation', { hook: event.name, file: event.file })
    }
    const signal = readHook(event.name, fields, event.atMs)
    if (signal === undefined) {
      return log.write('debug', 'hook event says nothing', { hook: event.name, file: event.file })
    }
    const raw = `${event.name} ${event.file}`
    if (signal.kind === 'accepted') {
      return emit({ kind: 'accepted', source: 'hook', text: signal.text, atMs: signal.atMs, raw })
    }
    this.#endedTurn = signal.endedTurn ?? this.#endedTurn
    emit({ kind: 'claim', source: 'hook', claim: signal.claim, atMs: signal.atMs, raw })
  }

  async loadAnswer(waiting: Waiting, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    if (this.#binding === undefined) return { kind: 'none', why: 'the conversation of this terminal is not known' }
    const wanted = which === 'ended' ? this.#endedTurn : undefined
    for (;;) {
      const record = await loadRecord(this.#binding.transcript)
      const turn = record.kind === 'read' ? findTurn(record.lines, wanted) : undefined
      if (turn?.kind === 'answered') return { kind: 'exact', text: turn.text, source: 'transcript' }
      if (turn?.kind === 'ended') return { kind: 'none', why: `the turn has no answer: ${turn.how}` }
      if (waiting.signal.aborted || !(await this.#pause(waiting))) {
        return { kind: 'none', why: record.kind === 'read' ? 'no turn has ended' : record.why }
      }
    }
  }

  async findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    if (this.#binding === undefined || waiting.signal.aborted) return 'unknown'
    const record = await loadRecord(this.#binding.transcript)
    // The agent writes its first line before its composer is there.
    if (record.kind === 'unreadable') return 'unknown'
    return record.lines.some((line) => line.type === 'user' && line.text.includes(token)) ? 'yes' : 'no'
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false
    return Promise.resolve()
  }

  /** False when the wait is over. */
  async #pause(waiting: Waiting): Promise<boolean> {
    try {
      await sleep(this.#context.clock, rereadGapMs, waiting.signal)
      return true
    } catch (error) {
      if (waiting.signal.aborted) return false
      throw error
    }
  }
}

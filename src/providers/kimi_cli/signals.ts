/**
 * The structured channels of one Kimi Code. Its hooks tell of every prompt and that a turn has ended, also an interrupted or
 * failed one; but sub-agents tell of their ends in the same words. So the agent's own record of the conversation, which
 * holds no sub-agent, decides what an end was.
 */
import { Scope } from '../../async/scope.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { Claim } from '../../domain/status.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { type HookFact, readHook } from './hook-events.ts'
import { type KimiBinding, parseBinding } from './launch.ts'
import { findLastTurn, isRateLimit, type LastTurn, type WireRecord } from './wire.ts'
import { findWire, loadWire } from './wire-file.ts'

/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 30
/** The record tells of an end soon after the hook; a turn that is open after this long goes on. Units: ms. */
const settleLimitMs = 3_000

export class KimiSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: KimiBinding | undefined
  readonly #scope: Scope
  #sessionId: string | undefined
  #path: string | undefined
  /** The newest prompt that a hook told of. */
  #prompt: string | undefined
  #isTurnOpen: boolean

  constructor(context: SignalContext) {
    const { binding, clock, log } = context
    this.#context = context
    this.#binding = parseBinding(binding)
    this.#sessionId = this.#binding?.vendorSessionId
    // A conversation that is taken up may be in the middle of a turn.
    this.#isTurnOpen = this.#sessionId !== undefined
    this.#scope = new Scope(clock, (name, error) => {
      log.write('error', 'channel of Kimi Code failed', { name, error: String(error) })
    })
    if (this.#binding === undefined) log.write('warn', 'the conversation of this terminal is not known', {})
  }

  handleHook({ name, payload, file, atMs }: HookEvent): void {
    if (this.#scope.signal.aborted) return
    const fact = readHook(name, payload)
    if (fact === undefined) return this.#context.log.write('debug', 'hook event says nothing', { hook: name, file })
    this.#moveTo(fact.sessionId)
    this.#take(fact, atMs, `${name} ${file}`)
  }

  async loadAnswer(waiting: Waiting): Promise<AnswerOutcome> {
    for (;;) {
      const records = await this.#loadRecords()
      const turn = this.#findTurn(records ?? [])
      if (turn.kind === 'ended') {
        const { outcome, text, cost } = turn
        if (outcome === 'answered') return { kind: 'exact', text, source: 'transcript', cost }
        return { kind: 'none', why: `the turn has no answer: ${outcome}` }
      }
      if (waiting.signal.aborted || !(await this.#pause(waiting.signal))) {
        return { kind: 'none', why: records === undefined ? 'there is no record' : 'no turn has ended' }
      }
    }
  }

  async findAccepted(token: MessageToken, { signal }: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    if (this.#binding === undefined || signal.aborted) return 'unknown'
    const records = await this.#loadRecords()
    const isTaken = (record: WireRecord) => record.kind === 'prompt' && record.text.includes(token)
    if (records?.some(isTaken) === true || this.#prompt?.includes(token) === true) return 'yes'
    // There is no record before the first prompt.
    if (records === undefined) return this.#prompt === undefined ? 'no' : 'unknown'
    return this.#isBehind(records) ? 'unknown' : 'no'
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }

  /** The conversation on the screen: the first, or another one after `/new` or `/sessions`. */
  #moveTo(sessionId: string): void {
    if (sessionId === this.#sessionId) return
    this.#sessionId = sessionId
    this.#path = undefined
    this.#prompt = undefined
    this.#isTurnOpen = false
    const { emit, binding } = this.#context
    emit({ kind: 'bound', binding: { ...binding, vendorSessionId: sessionId } })
  }

  #take(fact: HookFact, atMs: number, raw: string): void {
    const { emit } = this.#context
    switch (fact.kind) {
      case 'session':
        return
      case 'prompt':
        this.#prompt = fact.text
        emit({ kind: 'accepted', source: 'hook', text: fact.text, atMs, raw })
        if (fact.isSteering) return
        this.#isTurnOpen = true
        return this.#claim({ kind: 'turn_started' }, atMs, raw)
      case 'permission_answered':
        return this.#claim({ kind: 'question_closed' }, atMs, raw)
      case 'ended':
        return this.#scope.spawn(raw, (signal) => this.#settle(atMs, raw, signal))
    }
  }

  #claim(claim: Claim, atMs: number, raw: string): void {
    this.#context.emit({ kind: 'claim', source: 'hook', claim, atMs, raw })
  }

  /** Waits for the record to tell of the end; an end that it does not tell of was a sub-agent's. */
  async #settle(atMs: number, raw: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context
    const endMs = clock.monotonicMs() + settleLimitMs
    const prompt = this.#prompt
    for (;;) {
      const turn = this.#findTurn((await this.#loadRecords()) ?? [])
      // Meanwhile another event told of it, or a prompt began another turn.
      if (!this.#isTurnOpen || prompt !== this.#prompt) return
      if (turn.kind === 'ended') {
        this.#isTurnOpen = false
        for (const claim of describeEnd(turn)) this.#claim(claim, atMs, raw)
        return
      }
      if (clock.monotonicMs() >= endMs || !(await this.#pause(signal))) break
    }
    log.write('debug', 'the end of another turn than that of the agent', { raw })
  }

  /** The newest turn; none while the record lags behind the newest prompt. */
  #findTurn(records: readonly WireRecord[]): LastTurn {
    return this.#isBehind(records) ? { kind: 'none' } : findLastTurn(records)
  }

  #isBehind(records: readonly WireRecord[]): boolean {
    if (this.#prompt === undefined) return false
    const last = records.findLast((record) => record.kind === 'prompt' && record.from !== 'program')
    return last?.kind !== 'prompt' || last.text !== this.#prompt
  }

  async #loadRecords(): Promise<readonly WireRecord[] | undefined> {
    if (this.#binding === undefined || this.#sessionId === undefined) return undefined
    this.#path ??= await findWire(this.#binding.homeDir, this.#sessionId)
    return this.#path === undefined ? undefined : loadWire(this.#path)
  }

  /** False when the wait is over. */
  async #pause(signal: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#context.clock, rereadGapMs, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }
}

function describeEnd({ outcome, error }: Extract<LastTurn, { kind: 'ended' }>): readonly Claim[] {
  const ended: Claim = { kind: 'turn_ended', outcome, answer: undefined }
  if (outcome !== 'failed') return [ended]
  const reason = error !== undefined && isRateLimit(error) ? 'rate_limited' : 'api_error'
  return [{ kind: 'failed', reason, detail: error?.message ?? 'no reason was given' }, ended]
}

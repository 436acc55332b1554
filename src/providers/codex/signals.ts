/**
 * The structured channels of one Codex: marks in what it prints, and its record of the conversation, which is followed. One
 * loop reads both: first the record up to its end, then the marks that were printed before. What they add up to is
 * `conversation.ts`.
 */
import { type FSWatcher, watch } from 'node:fs'
import { Scope } from '../../async/scope.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { type Conversation, type Fact, newConversation, stepConversation, type Tell } from './conversation.ts'
import { type CodexBinding, parseBinding } from './launch.ts'
import { MarkScanner, type ProgramMark } from './program-status.ts'
import { findLastEnd, type RolloutRecord } from './rollout.ts'
import { findRollout, loadRollout, readRollout, sizeOfRollout } from './rollout-file.ts'

/** Between two looks at a record, for what the watch missed. Units: ms. */
const slowLookMs = 2_000
/** While a record is about to appear. Units: ms. */
const soonLookMs = 25
const soonLooksMax = 400
/** For a record to explain a mark of rest. Units: ms. */
const settleMs = 1_500
/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 50
/** For a prompt to be written down that was taken a moment ago. */
const acceptLooksMax = 20

export class CodexSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: CodexBinding | undefined
  readonly #scope: Scope
  readonly #latch = new SignalLatch()
  readonly #scanner = new MarkScanner()
  readonly #marks: ProgramMark[] = []
  #sessionId: string | undefined
  #path: string | undefined
  #offset: number
  #watcher: FSWatcher | undefined
  #state: Conversation = newConversation
  /** Looks since the program began to work without a record. */
  #soonLooks = 0

  constructor(context: SignalContext) {
    const { binding, clock, log } = context
    this.#context = context
    this.#binding = parseBinding(binding)
    this.#sessionId = this.#binding?.vendorSessionId
    this.#offset = this.#binding?.rolloutOffset ?? 0
    this.#scope = new Scope(clock, (name, error) => {
      log.write('error', 'channel of Codex failed', { name, error: String(error) })
    })
    if (this.#binding === undefined) log.write('warn', 'the conversation of this terminal is not known', {})
    else this.#scope.spawn('record and marks', (signal) => this.#follow(signal))
  }

  handleHook(event: HookEvent): void {
    this.#context.log.write('debug', 'hook event says nothing', { hook: event.name, file: event.file })
  }

  handleOutput(bytes: Uint8Array): void {
    const marks = this.#scanner.feed(bytes)
    if (marks.length === 0) return
    this.#marks.push(...marks)
    this.#latch.raise()
  }

  async loadAnswer(waiting: Waiting, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    for (;;) {
      const records = await this.#loadRecords()
      const { end, isOpen } = findLastEnd(records ?? [])
      // A turn whose end only a mark told is not in the record: what is there is of an earlier one.
      const isUntold = isOpen && !this.#state.isTurnOpen
      if (end !== undefined && !isUntold && (!isOpen || which === 'ended')) {
        if (end.outcome !== 'answered') return { kind: 'none', why: `the turn has no answer: ${end.outcome}` }
        return { kind: 'exact', text: end.text, source: 'transcript', cost: end.cost }
      }
      if (waiting.signal.aborted || !(await this.#pause(rereadGapMs, waiting.signal))) {
        return { kind: 'none', why: records === undefined ? 'there is no record' : 'no turn has ended' }
      }
    }
  }

  async findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    if (this.#sessionId === undefined) return 'unknown'
    for (let looks = 0; looks < acceptLooksMax && !waiting.signal.aborted; looks++) {
      const records = (await this.#loadRecords()) ?? []
      if (records.some((record) => record.kind === 'prompt' && record.text.includes(token))) return 'yes'
      // A program that works on what its record does not show may not have written it yet.
      if (this.#state.program !== 'working' || findLastEnd(records).isOpen) return 'no'
      if (!(await this.#pause(rereadGapMs, waiting.signal))) break
    }
    return 'unknown'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]()
    this.#watcher?.close()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    while (!signal.aborted) {
      const marks = this.#marks.splice(0)
      for (const mark of marks) {
        if (mark.kind === 'conversation') await this.#moveTo(mark.sessionId)
      }
      await this.#readRecord()
      const atMs = clock.nowMs()
      for (const mark of marks) {
        if (mark.kind === 'state') this.#take({ kind: 'program', state: mark.state, atMs }, `state ${mark.state}`)
      }
      const isSoon = this.#path === undefined && this.#state.program === 'working' && this.#soonLooks++ < soonLooksMax
      await this.#latch.wait(clock, isSoon ? soonLookMs : slowLookMs, signal)
    }
  }

  /** A person may go on in another conversation. An older one begins with what is written there from now on. */
  async #moveTo(sessionId: string): Promise<void> {
    const former = this.#sessionId
    if (this.#binding === undefined || former?.startsWith(sessionId) === true) return
    const isFirst = former === undefined
    this.#closeRecord()
    this.#sessionId = sessionId
    const found = isFirst ? undefined : await findRollout(this.#binding.configDir, sessionId)
    this.#offset = found === undefined ? 0 : await sizeOfRollout(found.path)
    this.#state = { ...newConversation, program: this.#state.program }
    this.#bind()
  }

  #closeRecord(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#path = undefined
    this.#soonLooks = 0
  }

  async #readRecord(): Promise<void> {
    const path = this.#path ?? (await this.#openRecord())
    if (path === undefined) return
    const { records, nextOffset } = await readRollout(path, this.#offset)
    if (nextOffset === this.#offset) return
    for (const record of records) this.#take({ kind: 'record', record }, describeRecord(record))
    this.#offset = nextOffset
    // Once for each step of a turn: what was taken in is not told again after a restart.
    if (records.some(isBoundary)) this.#bind()
  }

  async #openRecord(): Promise<string | undefined> {
    if (this.#binding === undefined || this.#sessionId === undefined) return undefined
    const found = await findRollout(this.#binding.configDir, this.#sessionId)
    if (found === undefined) return undefined
    this.#path = found.path
    this.#sessionId = found.sessionId
    this.#watcher = this.#watch(found.path)
    return found.path
  }

  #watch(path: string): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, () => this.#latch.raise())
      watcher.on('error', () => this.#latch.raise())
      return watcher
    } catch (error) {
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }

  #bind(): void {
    const { emit, binding } = this.#context
    const own = { vendorSessionId: this.#sessionId ?? null, rolloutOffset: this.#offset }
    emit({ kind: 'bound', binding: { ...binding, ...own } })
  }

  #take(fact: Fact, raw: string): void {
    const { state, tells } = stepConversation(this.#state, fact)
    this.#state = state
    for (const tell of tells) this.#tell(tell, raw)
  }

  #tell(tell: Tell, raw: string): void {
    const { emit } = this.#context
    switch (tell.kind) {
      case 'claim':
        return emit({ kind: 'claim', source: tell.source, claim: tell.claim, atMs: tell.atMs, raw })
      case 'accepted':
        return emit({ kind: 'accepted', source: 'transcript', text: tell.text, atMs: tell.atMs, raw })
      case 'look':
        return this.#scope.spawn('late record', async (signal) => {
          if (!(await this.#pause(settleMs, signal))) return
          this.#take({ kind: 'late', atMs: this.#context.clock.nowMs() }, 'a mark of rest, and no record of it')
        })
    }
  }

  async #loadRecords(): Promise<readonly RolloutRecord[] | undefined> {
    if (this.#path !== undefined) return loadRollout(this.#path)
    if (this.#binding === undefined || this.#sessionId === undefined) return undefined
    const found = await findRollout(this.#binding.configDir, this.#sessionId)
    return found === undefined ? undefined : loadRollout(found.path)
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

const isBoundary = ({ kind }: RolloutRecord): boolean => kind !== 'text' && kind !== 'step' && kind !== 'tokens'

const describeRecord = (record: RolloutRecord): string =>
  'turnId' in record ? `rollout: ${record.kind} ${record.turnId}` : `rollout: ${record.kind}`

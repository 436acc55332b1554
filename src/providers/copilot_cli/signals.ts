/**
 * The structured channels of one Copilot CLI: a hook tells of each prompt, and its record of the conversation, which is followed, of
 * prompts and ends: answered, broken off, failed. A prompt that was broken off before a word came is in no record, or is taken out
 * again: then only the screen tells of the end.
 */
import { type FSWatcher, watch } from 'node:fs'
import { Scope } from '../../async/scope.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { Claim } from '../../domain/status.ts'
import { isFields, textOf } from '../fields.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { eventsPath, loadEvents, readEvents } from './event-file.ts'
import { type CopilotEvent, findLastEnd, noTurn, stepTurn, type Turn, type TurnEnd } from './events.ts'
import { type CopilotBinding, parseBinding, promptHook } from './launch.ts'

/** Between two looks at a record, for what the watch missed. Units: ms. */
const slowLookMs = 1_000
/** While there is no record yet: it appears with the first prompt. Units: ms. */
const soonLookMs = 100
/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 50
/** Prompts that only one of hook and record told of, at most. */
const toldMax = 20

export class CopilotSignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: CopilotBinding | undefined
  readonly #path: string
  readonly #scope: Scope
  readonly #latch = new SignalLatch()
  #offset: number
  #watcher: FSWatcher | undefined
  #turn: Turn = noTurn
  /** Prompts that one of the two has told of, and the other not yet. */
  #told: readonly { readonly source: 'hook' | 'transcript'; readonly text: string }[] = []

  constructor(context: SignalContext) {
    const { binding, clock, log } = context
    this.#context = context
    this.#binding = parseBinding(binding)
    this.#path = eventsPath(this.#binding?.configDir ?? '', this.#binding?.vendorSessionId ?? '')
    this.#offset = this.#binding?.eventsOffset ?? 0
    this.#scope = new Scope(clock, (name, error) => {
      log.write('error', 'channel of Copilot CLI failed', { name, error: String(error) })
    })
    if (this.#binding === undefined) log.write('warn', 'the conversation of this terminal is not known', {})
    else this.#scope.spawn('record', (signal) => this.#follow(signal))
  }

  handleHook({ name, payload, file, atMs }: HookEvent): void {
    if (this.#scope.signal.aborted) return
    const text = name === promptHook && isFields(payload) ? textOf(payload, 'prompt') : undefined
    if (text === undefined) return this.#context.log.write('debug', 'hook event says nothing', { hook: name, file })
    this.#accept('hook', text, atMs)
    this.#context.emit({ kind: 'claim', source: 'hook', claim: { kind: 'turn_started' }, atMs, raw: `${name} ${file}` })
  }

  /** Hook and record tell of the same prompt; it is passed on once. */
  #accept(source: 'hook' | 'transcript', text: string, atMs: number): void {
    const others = this.#told.filter((told) => told.source !== source)
    const same = others.find((told) => told.text === text)
    if (same !== undefined) {
      this.#told = this.#told.filter((told) => told !== same)
      return
    }
    this.#told = [...this.#told, { source, text }].slice(-toldMax)
    this.#context.emit({ kind: 'accepted', source, text, atMs, raw: `${source}: prompt` })
  }

  async loadAnswer(waiting: Waiting, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    for (;;) {
      const events = await this.#loadRecord()
      const { end, isOpen } = findLastEnd(events ?? [])
      if (end !== undefined && (!isOpen || which === 'ended')) {
        if (end.outcome !== 'answered') return { kind: 'none', why: `the turn has no answer: ${end.outcome}` }
        return { kind: 'exact', text: end.text, source: 'transcript', cost: end.cost }
      }
      if (waiting.signal.aborted || !(await this.#pause(waiting.signal))) {
        return { kind: 'none', why: events === undefined ? 'there is no record' : 'no turn has ended' }
      }
    }
  }

  async findAccepted(token: MessageToken, { signal }: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    if (this.#binding === undefined || signal.aborted) return 'unknown'
    // The record appears with the first prompt.
    const events = (await this.#loadRecord()) ?? []
    return events.some((event) => event.kind === 'prompt' && event.text.includes(token)) ? 'yes' : 'no'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]()
    this.#unwatch()
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  async #follow(signal: AbortSignal): Promise<void> {
    await this.#takeUp()
    while (!signal.aborted) {
      this.#watcher ??= this.#watch()
      await this.#read()
      await this.#latch.wait(this.#context.clock, this.#watcher === undefined ? soonLookMs : slowLookMs, signal)
    }
  }

  /** Where a turn runs at the place from which the record is followed on. */
  async #takeUp(): Promise<void> {
    if (this.#offset === 0) return
    const { events } = await readEvents(this.#path, 0)
    const { events: later } = await readEvents(this.#path, this.#offset)
    for (const event of events.slice(0, events.length - later.length)) this.#turn = stepTurn(this.#turn, event).turn
  }

  async #read(): Promise<void> {
    const { events, nextOffset, isCut } = await readEvents(this.#path, this.#offset)
    if (isCut) this.#takeBack()
    for (const event of events) this.#take(event)
    if (nextOffset === this.#offset) return
    this.#offset = nextOffset
    const { emit, binding } = this.#context
    if (isCut || events.length > 0) emit({ kind: 'bound', binding: { ...binding, eventsOffset: nextOffset } })
  }

  #takeBack(): void {
    const { isOpen } = this.#turn
    this.#turn = noTurn
    if (isOpen) this.#tellEnd({ outcome: 'interrupted' }, this.#context.clock.nowMs())
  }

  #take(event: CopilotEvent): void {
    const raw = `events: ${event.kind}`
    const wasOpen = this.#turn.isOpen
    const { turn, end } = stepTurn(this.#turn, event)
    this.#turn = turn
    if (event.kind === 'prompt') {
      this.#accept('transcript', event.text, event.atMs)
      if (!wasOpen) this.#claim({ kind: 'turn_started' }, event.atMs, raw)
    }
    if (event.kind === 'answered') this.#claim({ kind: 'question_closed' }, event.atMs, raw)
    if (end !== undefined) this.#tellEnd(end, event.atMs)
  }

  #tellEnd(end: TurnEnd, atMs: number): void {
    const raw = `events: ${end.outcome}`
    if (end.outcome === 'failed') {
      const reason = end.isLimit ? 'rate_limited' : 'api_error'
      this.#claim({ kind: 'failed', reason, detail: end.detail }, atMs, raw)
    }
    const answer = end.outcome === 'answered' ? end.text : undefined
    this.#claim({ kind: 'turn_ended', outcome: end.outcome, answer }, atMs, raw)
  }

  #claim(claim: Claim, atMs: number, raw: string): void {
    this.#context.emit({ kind: 'claim', source: 'transcript', claim, atMs, raw })
  }

  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#path, { persistent: false }, (change) => {
        // Another file stands in its place.
        if (change === 'rename') this.#unwatch()
        this.#latch.raise()
      })
      watcher.on('error', () => this.#latch.raise())
      return watcher
    } catch (error) {
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }

  async #loadRecord(): Promise<readonly CopilotEvent[] | undefined> {
    return this.#binding === undefined ? undefined : loadEvents(this.#path)
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

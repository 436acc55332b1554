/**
 * Knows what one agent is doing: reads its output log, its hook spool, its provider's channels and, when
 * something was printed, its screen; turns all of it into evidence for the pure reducer; tells what changed.
 *
 * One watch per terminal; different terminals do not wait for each other. It never types.
 */
import type { Clock } from '../async/clock.ts'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import type { BackendTerminal, CaptureOutcome } from '../backend/backend.ts'
import type { Announces, Claim, Evidence, EvidenceSource } from '../domain/status.ts'
import { initialStatus, reduceStatus, type StatusState } from '../domain/status-reducer.ts'
import type { Binding } from '../domain/terminal.ts'
import { Emitter } from '../lib/emitter.ts'
import type { Log } from '../lib/log.ts'
import type { Provider, ProviderSignals, ScreenReading, Signal } from '../providers/provider.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import { CaptureSchedule } from './capture-schedule.ts'
import { HookSpool } from './hook-spool.ts'
import { findBracketed, ModeScanner } from './mode-scanner.ts'

/** A capture that is not back by then counts as "the backend does not answer". */
export const captureLimitMs = 5_000
/** A guess about a screen counts when it has stood for this long: less than from one look to the next. Units: ms. */
const stillMs = 180

export type Seen = { readonly snapshot: Snapshot; readonly reading: ScreenReading }
export type Accepted = { readonly text: string; readonly source: EvidenceSource; readonly atMs: number }
export type Change = { readonly before: StatusState; readonly after: StatusState; readonly evidence: Evidence }

export type WatchOptions = {
  readonly terminal: BackendTerminal
  readonly provider: Provider
  readonly binding: Binding
  readonly cwd: string
  readonly privateDir: string
  readonly spoolDir: string
  readonly cursor: { readonly outputOffset: number; readonly hookOffset: number; readonly turnsEnded: number }
  readonly clock: Clock
  readonly log: Log
}

export class TerminalWatch implements AsyncDisposable {
  readonly #options: WatchOptions
  readonly #announces: Announces
  readonly #stack = new AsyncDisposableStack()
  readonly #changed: Emitter<Change>
  readonly #accepted: Emitter<Accepted>
  readonly #bound: Emitter<Binding>
  readonly #seen: Emitter<Seen>
  readonly #schedule: CaptureSchedule
  readonly signals: ProviderSignals
  #spool: HookSpool | undefined
  #modes = new ModeScanner()
  #state: StatusState
  #lastScreen = ''
  #lastScreenSinceMs = 0
  #lastSeen: Seen | undefined
  #outputOffset: number
  #hookOffset: number

  constructor(options: WatchOptions) {
    this.#options = options
    this.#announces = options.provider.announces
    const onError = (error: unknown) => options.log.write('error', 'listener failed', { error: describe(error) })
    this.#changed = new Emitter(onError)
    this.#accepted = new Emitter(onError)
    this.#bound = new Emitter(onError)
    this.#seen = new Emitter(onError)
    this.#state = { ...initialStatus(options.clock.nowMs()), turnsEnded: options.cursor.turnsEnded }
    this.#outputOffset = options.cursor.outputOffset
    this.#hookOffset = options.cursor.hookOffset
    this.#schedule = this.#stack.use(
      new CaptureSchedule({ clock: options.clock, look: () => this.#lookOnSchedule(), onError }),
    )
    this.signals = this.#stack.use(
      options.provider.openSignals({
        ...options,
        terminalId: options.terminal.id,
        emit: (signal) => this.#onSignal(signal),
      }),
    )
  }

  get state(): StatusState {
    return this.#state
  }

  get isBracketed(): boolean {
    return this.#modes.isBracketed
  }

  /** The last look, for `explain`; undefined before the first. */
  get lastSeen(): Seen | undefined {
    return this.#lastSeen
  }

  /** Until the next look at the screen; undefined: none before something is printed. Units: ms. */
  get nextLookInMs(): number | undefined {
    return this.#schedule.dueInMs
  }

  get cursor(): { readonly outputOffset: number; readonly hookOffset: number; readonly turnsEnded: number } {
    return { outputOffset: this.#outputOffset, hookOffset: this.#hookOffset, turnsEnded: this.#state.turnsEnded }
  }

  /** Every change of status, reason or detail. */
  onChanged = (listener: (change: Change) => void): Disposable => this.#changed.on(listener)
  onAccepted = (listener: (accepted: Accepted) => void): Disposable => this.#accepted.on(listener)
  onBound = (listener: (binding: Binding) => void): Disposable => this.#bound.on(listener)
  onSeen = (listener: (seen: Seen) => void): Disposable => this.#seen.on(listener)

  /**
   * Starts reading: hook backlog, then output from the stored offset, then one look. The order does not
   * matter for the result, since the look is taken after its subscription began.
   */
  async start(): Promise<void> {
    const { terminal, spoolDir, clock, log } = this.#options
    const length = await terminal.outputLength()
    if (this.#outputOffset > 0) {
      this.#modes = new ModeScanner(
        await findBracketed((o, n) => terminal.readOutput(o, n), Math.min(length, this.#outputOffset)),
      )
    }
    this.#stack.use(
      terminal.follow(this.#outputOffset, (chunk) => {
        this.#modes.feed(chunk.bytes)
        this.signals.handleOutput?.(chunk.bytes)
        this.#outputOffset = chunk.offset + chunk.bytes.length
        this.#schedule.nudge()
      }),
    )
    this.#spool = this.#stack.use(
      new HookSpool({
        dir: spoolDir,
        fromOffset: this.#hookOffset,
        clock,
        log,
        onEvent: (event) => {
          this.signals.handleHook(event)
          this.#hookOffset = event.nextOffset
        },
      }),
    )
    await this.#spool.start()
    this.#schedule.nudge()
  }

  /** A fresh look now, fed to the reducer too; for a delivery that needs to know. */
  async look(waiting: Waiting): Promise<Seen | 'gone'> {
    await this.flushHooks()
    const outcome = await this.#capture(waiting)
    if (outcome.kind === 'gone') return 'gone'
    return this.#take(outcome.snapshot)
  }

  /** Takes what the hooks have told by now. */
  async flushHooks(): Promise<void> {
    await this.#spool?.flush()
  }

  /** The backend has fallen silent: nothing is known until it is seen again. When it answers, the screen is looked at. */
  noteAnswering(isAnswering: boolean): void {
    if (isAnswering) this.#schedule.nudge()
    else this.addEvidence('process', { kind: 'backend_silent' }, 'the backend does not answer')
  }

  /** Adds evidence that does not come from reading: launch, exit, loss. */
  addEvidence(source: EvidenceSource, claim: Claim, raw: string): void {
    this.#reduce({ source, claim, atMs: this.#options.clock.nowMs(), raw })
  }

  async #lookOnSchedule(): Promise<'changed' | 'same'> {
    using deadline = deadlineSignal(this.#options.clock, captureLimitMs, 'a screen')
    let outcome: CaptureOutcome
    try {
      outcome = await this.#capture(deadline)
    } catch (error) {
      this.#options.log.write('warn', 'screen not readable', { error: describe(error) })
      this.addEvidence('process', { kind: 'backend_silent' }, describe(error))
      return 'changed'
    }
    if (outcome.kind === 'gone') return 'same'
    const before = this.#lastScreen
    const { reading, snapshot } = this.#take(outcome.snapshot)
    const isDecided = reading.isGuess !== true || this.#standsStill(snapshot)
    return before === this.#lastScreen && isDecided ? 'same' : 'changed'
  }

  #capture(waiting: Waiting): Promise<CaptureOutcome> {
    return this.#options.terminal.capture({}, waiting)
  }

  #take(snapshot: Snapshot): Seen {
    const key = `${snapshot.title}\n${snapshot.mode ?? ''}\n${snapshot.lines.join('\n')}`
    const isStable = key === this.#lastScreen
    if (!isStable) this.#lastScreenSinceMs = snapshot.atMs
    this.#lastScreen = key
    const reading = this.#options.provider.readScreen(snapshot)
    const seen = { snapshot, reading }
    this.#lastSeen = seen
    // Under a pane mode too: a capture is of the program's own screen, not of what covers it.
    if (reading.claim !== undefined && (reading.isGuess !== true || this.#standsStill(snapshot))) {
      const claim = reading.claim.kind === 'ready' ? { ...reading.claim, isStable } : reading.claim
      this.#reduce({ source: 'screen', claim, atMs: snapshot.atMs, raw: reading.rule })
    }
    this.#seen.emit(seen)
    return seen
  }

  #standsStill({ atMs }: Snapshot): boolean {
    return atMs - this.#lastScreenSinceMs >= stillMs
  }

  #onSignal(signal: Signal): void {
    switch (signal.kind) {
      case 'claim':
        this.#reduce({ source: signal.source, claim: signal.claim, atMs: signal.atMs, raw: signal.raw })
        return
      case 'accepted':
        // What it took it works on: nobody who knows that the text arrived may still read the former turn's status.
        this.#reduce({ source: signal.source, claim: { kind: 'turn_started' }, atMs: signal.atMs, raw: signal.raw })
        this.#accepted.emit({ text: signal.text, source: signal.source, atMs: signal.atMs })
        return
      case 'bound':
        this.#bound.emit(signal.binding)
    }
  }

  #reduce(evidence: Evidence): void {
    const before = this.#state
    const after = reduceStatus(before, evidence, this.#announces)
    this.#state = after
    const isEnd = evidence.claim.kind === 'turn_ended' && after.turnsEnded !== before.turnsEnded
    const isMove = before.status !== after.status || before.reason !== after.reason || before.detail !== after.detail
    if (isMove || isEnd) this.#changed.emit({ before, after, evidence })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

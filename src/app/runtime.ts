/**
 * One living agent: its pane, the watch that knows what it does, the worker that delivers to it, and the one
 * keyboard that everything typed goes through. A runtime exists for each terminal whose life is `live`; closing
 * it leaves the agent alone.
 */

import { Scope } from '../async/scope.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import { sleep, type Waiting } from '../async/wait.ts'
import type { BackendTerminal, InputOutcome } from '../backend/backend.ts'
import type { Message } from '../domain/message.ts'
import type { Question } from '../domain/question.ts'
import type { StatusView } from '../domain/status.ts'
import type { StatusState } from '../domain/status-reducer.ts'
import type { Exit, Terminal } from '../domain/terminal.ts'
import { decideGate } from '../inbox/gate.ts'
import { InboxWorker } from '../inbox/inbox-worker.ts'
import type { Receiver } from '../inbox/receiver.ts'
import { TurnTracker } from '../inbox/turn-tracker.ts'
import type { Log } from '../lib/log.ts'
import type { AnswerOutcome, Key, Provider } from '../providers/provider.ts'
import { doubtTurns } from '../status/doubted-turn.ts'
import { type Change, TerminalWatch } from '../status/terminal-watch.ts'
import type { CoreContext } from './core-context.ts'
import { KeptSteps } from './kept-steps.ts'
import { prepareNext } from './next-message.ts'
import { OpenQuestion } from './open-question.ts'
import { type Interrupt, People } from './people.ts'
import { messageFile, terminalDirs, writeMessageFile } from './terminal-dirs.ts'
import { saveRecord } from './terminal-record.ts'

/** Things that may wait for one keyboard. */
const keyboardLengthMax = 200
const cursorEveryMs = 1_000
const answerLimitMs = 10_000
const clientsLimitMs = 2_000
/** tmux tells to the second when a client was used. */
const clientTickMs = 1_000
/** After a restart, a terminal at rest this long with a message in its turn has ended that turn unseen. */
const unseenEndMs = 2_000
/** For the records of an agent that has ended to say how its last turn ended. */
const lastRecordLimitMs = 500

export type TurnEnd = {
  readonly terminal: Terminal
  /** The messages that this turn answered, oldest first. */
  readonly messages: readonly Message[]
  readonly outcome: 'answered' | 'interrupted' | 'failed'
  readonly answer: AnswerOutcome
  /** What the status said when it ended, as the text of an API error. */
  readonly detail: string | undefined
}

export type RuntimeListeners = {
  readonly onTurnEnded: (end: TurnEnd) => void
  readonly onExited: (runtime: Runtime, exit: Exit) => void
  /** A new question is open. */
  readonly onAsked: (question: Question) => void
  readonly onInterrupted: (interrupt: Interrupt) => void
  /** A text that CAO did not type was taken. */
  readonly onTyped: (id: Terminal['id']) => void
}

export class Runtime implements AsyncDisposable {
  readonly row: Terminal
  readonly pane: BackendTerminal
  readonly provider: Provider
  readonly watch: TerminalWatch
  readonly worker: InboxWorker
  readonly keyboard: SerialQueue
  readonly question: OpenQuestion
  readonly people: People
  readonly #context: CoreContext
  readonly #listeners: RuntimeListeners
  readonly #tracker: TurnTracker
  readonly #scope: Scope
  readonly #steps: KeptSteps
  readonly #log: Log
  /** Whether it is still being found out if a turn ended while nobody looked. */
  #isSettling = false
  /** Its end is known and is being taken in. */
  #isEnding = false
  #cursorTimer: Disposable | undefined

  constructor(
    context: CoreContext,
    row: Terminal,
    provider: Provider,
    parts: { readonly pane: BackendTerminal; readonly listeners: RuntimeListeners },
  ) {
    this.#context = context
    this.row = row
    this.provider = provider
    this.pane = parts.pane
    this.#listeners = parts.listeners
    const { store, clock, ladder } = context
    this.#log = context.log.child({ terminalId: row.id, provider: provider.name })
    this.#scope = new Scope(clock, (name, error) =>
      this.#log.write('error', 'loop crashed', { name, error: describe(error) }),
    )
    this.#steps = new KeptSteps(clock, this.#log)
    this.keyboard = new SerialQueue(`keyboard of ${row.id}`, keyboardLengthMax)
    const dirs = terminalDirs(context.layout, row.id)
    this.watch = new TerminalWatch({
      terminal: parts.pane,
      provider,
      binding: row.binding,
      cwd: row.workingDirectory,
      privateDir: dirs.privateDir,
      spoolDir: dirs.spoolDir,
      cursor: store.terminals.loadCursor(row.id),
      clock,
      log: this.#log,
    })
    this.#tracker = new TurnTracker({ id: row.id, store, ladder })
    const prepare = (message: Message) => prepareNext(context, message)
    this.worker = new InboxWorker({ receiver: this.#createReceiver(), store, ladder, clock, log: this.#log, prepare })
    this.question = new OpenQuestion(context, {
      row,
      watch: this.watch,
      operations: provider.operations,
      onAsked: (question) => this.#listeners.onAsked(question),
      isInterrupting: () => this.people.isInterrupting,
      whoTyped: (sinceMs, then) => this.whoTyped(sinceMs, then),
    })
    this.people = new People(context, {
      id: row.id,
      whoTyped: (sinceMs, then) => this.whoTyped(sinceMs, then),
      onInterrupted: (interrupt) => this.#listeners.onInterrupted(interrupt),
      onTyped: (id) => this.#listeners.onTyped(id),
    })
  }

  /** Subscribes, then reads: hook backlog, output, screen. `isAdopted`: it outlived a server. */
  async start(isAdopted: boolean): Promise<void> {
    if (!isAdopted) this.watch.addEvidence('process', { kind: 'launched' }, 'launch')
    await this.read()
    this.saveRecord()
    this.#scope.spawn('inbox', (signal) => this.worker.run(signal))
    void this.pane.exited.then((exit) => this.#listeners.onExited(this, exit))
    this.#scope.spawn('doubt', (signal) => this.#doubtTurns(signal))
    if (isAdopted) this.#scope.spawn('unseen end of turn', (signal) => this.#endUnseenTurn(signal))
  }

  /** Only reads, as much as there is; nothing is typed. Enough for an agent whose pane is gone. */
  async read(): Promise<void> {
    this.watch.onAccepted((accepted) => {
      this.#steps.run(() => {
        const isWorking = this.state.status === 'processing'
        if (this.#tracker.noteAccepted(accepted.text, accepted.source, isWorking) === undefined) {
          if (!this.#tracker.isOurs(accepted.text)) this.people.noteTyped(accepted.text)
          return
        }
        this.worker.wake()
      })
    })
    this.watch.onBound((binding) => {
      const merged = { ...this.#context.store.terminals.find(this.row.id)?.binding, ...binding }
      this.#context.store.terminals.setBinding(this.row.id, merged)
      this.saveRecord()
    })
    this.watch.onChanged((change) => this.#steps.run(() => this.#onChanged(change)))
    this.watch.onSeen(() => {
      this.#saveCursorSoon()
      // What holds the queue may be a draft or a dialog, which no status tells.
      if (this.worker.holdWhy !== undefined) this.worker.wake()
    })
    void this.pane.exited.then(() => {
      this.#isEnding = true
    })
    await this.watch.start()
  }

  /** After a change of its row. */
  saveRecord(): void {
    const { layout, store } = this.#context
    const { id } = this.row
    saveRecord(terminalDirs(layout, id).dir, store.terminals.find(id), this.#log)
  }

  get state(): StatusState {
    return this.watch.state
  }

  get view(): StatusView {
    const { status, reason, sinceMs, detail, because } = this.watch.state
    return { status, reason, sinceMs, detail, because, questionId: this.question.id }
  }

  /** Whether what happened while no server ran is not all known yet. */
  get isSettling(): boolean {
    const { status, reason } = this.watch.state
    if (this.#isEnding) return true
    if (status === 'unknown') return reason === 'starting'
    const isRest = status === 'idle' || status === 'completed'
    return this.#isSettling && isRest && this.#tracker.listInTurn().length > 0
  }

  /** Types through the one keyboard, after everything that waits for it. */
  press(keys: readonly Key[], waiting: Waiting): Promise<InputOutcome> {
    return this.keyboard.run(() => this.pane.press(keys, waiting))
  }

  /** The clients at its session that were used since then; none when the backend does not tell. Calls back later, once. */
  whoTyped(sinceMs: number, then: (clients: readonly string[]) => void): void {
    this.#scope.spawn('clients at the pane', async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(clientsLimitMs)])
      const clients = await this.pane.listClients({ signal: limit }).catch(() => [])
      this.#steps.run(() =>
        then(clients.flatMap(({ name, activeAtMs }) => (activeAtMs + clientTickMs > sinceMs ? [name] : []))),
      )
    })
  }

  #createReceiver(): Receiver {
    const { watch, keyboard, pane, provider } = this
    const { clock, store, layout } = this.#context
    const bodyFile = ({ token }: Message) => messageFile(terminalDirs(layout, this.row.id), token)
    return {
      id: this.row.id,
      quirks: provider.quirks,
      hasProofOfBody: provider.capabilities.has('proof-of-body'),
      get isBracketed() {
        return watch.isBracketed
      },
      gate: () => decideGate(watch.state, clock.nowMs(), store.holds.find(this.row.id)),
      isBusy: () => watch.state.status === 'processing',
      turnsEnded: () => watch.state.turnsEnded,
      look: (waiting) => watch.look(waiting),
      paste: (text, mark, waiting) => keyboard.run(() => pane.paste(text, { mark }, waiting)),
      bodyFile,
      writeBody: (message) => writeMessageFile(bodyFile(message), message.body),
      lastPasteMark: (waiting) => pane.lastPasteMark(waiting),
      press: (keys, waiting) => keyboard.run(() => pane.press(keys, waiting)),
      findAccepted: (token, waiting) => watch.signals.findAccepted(token, waiting),
    }
  }

  #onChanged(change: Change): void {
    const { before, after, evidence } = change
    const { store, clock, events } = this.#context
    const isMove = before.status !== after.status || before.reason !== after.reason
    if (isMove || before.detail !== after.detail) {
      const atMs = clock.nowMs()
      using _later = store.deferSync()
      const event = store.transaction(() => {
        store.terminals.touch(this.row.id, atMs)
        return store.events.append(
          {
            type: 'terminal.status_changed',
            terminalId: this.row.id,
            from: before.status,
            to: after.status,
            reason: after.reason,
            detail: after.detail,
            because: `${evidence.source}: ${evidence.raw}`,
          },
          atMs,
        )
      })
      events.announce(event)
      this.#log.write('info', 'status changed', {
        from: before.status,
        to: after.status,
        reason: after.reason,
        because: evidence.source,
      })
    }
    this.question.track(after, change)
    if (after.status === 'processing') this.#tracker.noteTurnStarted()
    const isRest = after.status === 'completed' || after.status === 'idle'
    const isQuietEnd = evidence.claim.kind === 'ready' && isRest && before.status !== 'unknown'
    const isCut = evidence.claim.kind === 'turn_ended' && evidence.claim.outcome === 'interrupted'
    if (isCut) this.people.noteInterrupted(`${evidence.source}: ${evidence.raw}`)
    if (evidence.claim.kind === 'turn_ended')
      this.#endTurn(evidence.claim.outcome, evidence.claim.answer, evidence.source)
    else if (evidence.claim.kind === 'failed') this.#endTurn('failed', undefined, evidence.source)
    else if (isQuietEnd) this.#endTurn('answered', undefined, evidence.source)
    // While the backend was silent a turn may have ended unseen, as during a restart.
    if (before.reason === 'backend_silent')
      this.#scope.spawn('unseen end of turn', (signal) => this.#endUnseenTurn(signal))
    this.#saveCursorSoon()
    this.worker.wake()
  }

  #endTurn(outcome: TurnEnd['outcome'], text: string | undefined, source: Change['evidence']['source']): void {
    const messages = this.#tracker.noteTurnEnded(outcome)
    if (messages.length === 0) return
    const { detail } = this.watch.state
    const report = (answer: AnswerOutcome) =>
      this.#listeners.onTurnEnded({ terminal: this.row, messages, outcome, answer, detail })
    // A screen does not say which turn ended: it is the newest, and an older one would give a false answer.
    const which = source === 'screen' ? 'newest' : 'ended'
    if (text !== undefined) report({ kind: 'exact', text, source })
    else this.#scope.spawn('read the answer', async (signal) => report(await this.loadAnswer(signal, which)))
  }

  /** The exact answer of the last turn, from the provider's records. Errors: none; a failure is an outcome. */
  async loadAnswer(signal: AbortSignal, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)])
      return await this.watch.signals.loadAnswer({ signal: limit }, which)
    } catch (error) {
      return { kind: 'none', why: describe(error) }
    }
  }

  /**
   * The agent has ended. What its records tell of its last turn is told; the messages of a turn that was cut are
   * returned, oldest first. Errors: none.
   */
  async settleLastTurn(): Promise<readonly Message[]> {
    await this.watch.flushHooks().catch(() => undefined)
    const open = this.#tracker.listInTurn()
    if (open.length === 0) return []
    const answer = await this.loadAnswer(AbortSignal.timeout(lastRecordLimitMs), 'newest')
    if (answer.kind !== 'exact') return open
    this.#endTurn('answered', answer.text, 'transcript')
    return []
  }

  #doubtTurns(signal: AbortSignal): Promise<void> {
    const { hungAfterMs } = this.provider.quirks
    const loadAnswer = (limit: AbortSignal) => this.loadAnswer(limit, 'newest')
    return doubtTurns({ watch: this.watch, clock: this.#context.clock, hungAfterMs, loadAnswer }, signal)
  }

  async #endUnseenTurn(signal: AbortSignal): Promise<void> {
    this.#isSettling = true
    try {
      await this.#awaitUnseenEnd(signal)
    } finally {
      this.#isSettling = false
    }
  }

  async #awaitUnseenEnd(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    for (;;) {
      const { status, sinceMs } = this.watch.state
      const isRest = status === 'idle' || status === 'completed'
      if (isRest && clock.nowMs() - sinceMs >= unseenEndMs) break
      if (status === 'processing' || status === 'error') return
      await sleep(clock, 250, signal)
    }
    if (this.#tracker.listInTurn().length === 0) return
    const claim = { kind: 'turn_ended', outcome: 'answered', answer: undefined } as const
    this.watch.addEvidence('screen', claim, 'at rest after a time in which nobody looked')
    // Where the status knew of an end already, the messages of this turn still want theirs.
    if (this.#tracker.listInTurn().length > 0) this.#endTurn('answered', undefined, 'screen')
  }

  #saveCursorSoon(): void {
    this.#cursorTimer ??= this.#context.clock.after(cursorEveryMs, () => {
      this.#cursorTimer = undefined
      try {
        this.saveCursor()
      } catch (error) {
        // A full disk: what is read again after a restart is what was read before.
        this.#log.write('warn', 'cursor not saved', { error: describe(error) })
        this.#saveCursorSoon()
      }
    })
  }

  /** Where the reading stands, stored with what was derived from it. */
  saveCursor(): void {
    this.#context.store.terminals.saveCursor(this.row.id, this.watch.cursor)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cursorTimer?.[Symbol.dispose]()
    await this.#scope[Symbol.asyncDispose]()
    await this.watch[Symbol.asyncDispose]()
    this.#steps[Symbol.dispose]()
    try {
      this.saveCursor()
    } catch (error) {
      this.#log.write('warn', 'cursor not saved', { error: describe(error) })
    }
    await this.pane[Symbol.asyncDispose]()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

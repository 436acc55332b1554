/**
 * A handle on one pane. It knows the pane by server life, pane id and our tag together, and asks
 * tmux to compare the tag inside every command that changes something, so that nothing can reach
 * another pane. The agent's end comes from the wrapper's file; what the file can not tell (the
 * pane was removed, the wrapper killed) comes from the backend's slow look, by `observe`.
 */
import { existsSync, type FSWatcher, mkdirSync, watch, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { createDeferred, type Waiting } from '../../async/wait.ts'
import { AppError } from '../../domain/errors.ts'
import type { InstanceId, TerminalId } from '../../domain/ids.ts'
import type { Exit, PaneRef } from '../../domain/terminal.ts'
import type { Log } from '../../lib/log.ts'
import { type CaptureRunner, capturePane } from '../../tmux/capture.ts'
import { type InputTarget, pasteFile, pressKeys, type InputOutcome as TmuxInputOutcome } from '../../tmux/input.ts'
import { makeNonce } from '../../tmux/nonce.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'
import { listClients, type OptionOutcome, pipePane, readPane, readPaneOption } from '../../tmux/panes.ts'
import type {
  BackendClient,
  BackendTerminal,
  CaptureOutcome,
  InputOutcome,
  KeyStroke,
  OutputChunk,
  Presence,
} from '../backend.ts'
import { endTerminal } from './end-terminal.ts'
import { failedFault, unavailableFault, untilAborted } from './faults.ts'
import { ensureLog, readAgentPid, readExit, readWrapper, sinkCommand, type TerminalFiles } from './launch-files.ts'
import { type TrimOutcome, trimLog, unreadTrimLimits } from './log-trim.ts'
import { logLength, OutputFollower, readLog } from './output-log.ts'
import { sanitizePaste } from './paste-text.ts'
import { toSnapshot } from './to-snapshot.ts'

export const tagOption = '@cao_terminal_id'
/** Names the last paste that reached the pane. */
const pasteMarkOption = '@cao_last_paste'

/** What a terminal needs of the backend that made it. */
export interface TerminalHost {
  readonly clock: Clock
  readonly log: Log
  /** The connection to that server life; undefined when that life is over. Errors: BACKEND_GONE before `ensure`. */
  runnerFor(instanceId: InstanceId): CaptureRunner | undefined
  /** Makes the server look again for exits that it lost. */
  heal(): void
  /** Asks for a look over all panes now instead of in a few seconds. */
  lookSoon(): void
  release(terminal: TmuxTerminal): void
}

export class TmuxTerminal implements BackendTerminal {
  readonly id: TerminalId
  readonly pane: PaneRef
  readonly exited: Promise<Exit>
  readonly files: TerminalFiles
  readonly #host: TerminalHost
  readonly #exited = createDeferred<Exit>()
  readonly #followers = new Set<OutputFollower>()
  #watcher: FSWatcher | undefined
  #isDisposed = false
  #isDone = false
  #deadLooks = 0
  #wrapperPid: number | undefined

  constructor(host: TerminalHost, files: TerminalFiles, id: TerminalId, pane: PaneRef) {
    this.#host = host
    this.files = files
    this.id = id
    this.pane = pane
    this.exited = this.#exited.promise
    this.#watch()
    this.#lookForExit()
  }

  async capture(
    options: { readonly historyLines?: number; readonly styled?: boolean },
    waiting: Waiting,
  ): Promise<CaptureOutcome> {
    const atMs = this.#host.clock.nowMs()
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return { kind: 'gone' }
    const history = options.historyLines === undefined ? {} : { historyLines: options.historyLines }
    const request = { paneId: this.pane.paneId, tagOption, isStyled: options.styled === true, ...history }
    const outcome = await untilAborted(capturePane(runner, request), waiting)
    switch (outcome.kind) {
      case 'captured':
        if (!this.#isOurs(outcome.facts)) return { kind: 'gone' }
        return { kind: 'captured', snapshot: toSnapshot(outcome.facts, outcome.lines, atMs) }
      case 'gone':
        return outcome
      case 'failed':
        throw failedFault('show the screen', outcome.detail)
      case 'timed-out':
      case 'closed':
      case 'overloaded':
        throw unavailableFault(outcome)
    }
  }

  async paste(text: string, options: { readonly mark: string }, waiting: Waiting): Promise<InputOutcome> {
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return { kind: 'refused', reason: 'gone' }
    const clean = sanitizePaste(text)
    mkdirSync(this.files.dir, { recursive: true, mode: 0o700 })
    const path = join(this.files.dir, `paste-${makeNonce()}`)
    writeFileSync(path, clean, { mode: 0o600, flag: 'wx' })
    const pasted = this.#pasteAndRemove(runner, path, options.mark)
    return this.#judge('paste', await untilAborted(pasted, waiting))
  }

  async lastPasteMark(waiting: Waiting): Promise<string | undefined> {
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return undefined
    const mark = readMark(runner, this.target)
    const outcome = await untilAborted(mark, waiting)
    switch (outcome.kind) {
      case 'value':
        return outcome.value === '' ? undefined : outcome.value
      case 'gone':
        return undefined
      case 'failed':
        throw failedFault('read the mark of the last paste', outcome.detail)
      case 'timed-out':
      case 'closed':
      case 'overloaded':
        throw unavailableFault(outcome)
    }
  }

  async press(strokes: readonly KeyStroke[], waiting: Waiting): Promise<InputOutcome> {
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return { kind: 'refused', reason: 'gone' }
    const outcome = await untilAborted(pressKeys(runner, this.target, strokes), waiting)
    if (outcome.kind === 'unknown-key') {
      throw new AppError(
        'BAD_REQUEST',
        `${JSON.stringify(outcome.name)} is no name of a key; use Enter, C-c, Up or the like`,
      )
    }
    return this.#judge('press keys', outcome)
  }

  follow(fromOffset: number, listener: (chunk: OutputChunk) => void): Disposable {
    const { clock, log } = this.#host
    const onError = (error: unknown) =>
      log.write('error', 'following the output failed', { terminalId: this.id, error: String(error) })
    const follower = new OutputFollower({ clock, path: this.files.log, fromOffset, listener, onError })
    this.#followers.add(follower)
    return {
      [Symbol.dispose]: () => {
        this.#followers.delete(follower)
        follower[Symbol.dispose]()
      },
    }
  }

  outputLength(): Promise<number> {
    return logLength(this.files.log)
  }

  readOutput(offset: number, lengthMax: number): Promise<Uint8Array> {
    return readLog(this.files.log, offset, lengthMax)
  }

  /** A dead pane is present until it is removed; its end is told by `exited`. */
  async presence(waiting: Waiting): Promise<Presence> {
    let runner: CaptureRunner | undefined
    try {
      runner = this.#host.runnerFor(this.pane.instanceId)
    } catch (error) {
      if (error instanceof AppError) return 'unknown'
      throw error
    }
    if (runner === undefined) return 'absent'
    const outcome = await untilAborted(readPane(runner, this.pane.paneId, tagOption), waiting)
    if (outcome.kind === 'found') return this.#isOurs(outcome.facts) ? 'present' : 'absent'
    return outcome.kind === 'gone' ? 'absent' : 'unknown'
  }

  async listClients(waiting: Waiting): Promise<readonly BackendClient[]> {
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return []
    const outcome = await untilAborted(listClients(runner, this.pane.paneId), waiting)
    if (outcome.kind === 'listed') return outcome.clients
    if (outcome.kind === 'gone') return []
    if (outcome.kind === 'failed') throw failedFault('list the clients', outcome.detail)
    throw unavailableFault(outcome)
  }

  async agentPid(): Promise<number | undefined> {
    return readExit(this.files) === undefined ? readAgentPid(this.files) : undefined
  }

  async destroy(options: { readonly graceMs: number }, waiting: Waiting): Promise<void> {
    const runner = this.#host.runnerFor(this.pane.instanceId)
    const { clock } = this.#host
    await untilAborted(
      endTerminal({ clock, files: this.files, target: this.target, runner, graceMs: options.graceMs }),
      waiting,
    )
    this.#lookForExit()
    this.#finish({ code: undefined, signal: undefined, atMs: clock.nowMs() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    this.#watcher?.close()
    this.#watcher = undefined
    for (const follower of this.#followers) follower[Symbol.dispose]()
    this.#followers.clear()
    this.#host.release(this)
  }

  /** Takes what the slow look over all panes found; undefined when the pane is not on the server any more. */
  async observe(facts: PaneFacts | undefined): Promise<void> {
    if (this.#isDisposed) return
    if (this.#watcher === undefined) this.#watch()
    for (const follower of this.#followers) follower.wake()
    this.#lookForExit()
    if (this.#isDone) return
    const atMs = this.#host.clock.nowMs()
    if (facts === undefined || !this.#isOurs(facts)) return this.#finish({ code: undefined, signal: undefined, atMs })
    if (!facts.isDead) {
      await this.#repairSink(facts)
      return this.#trimLog()
    }
    this.#deadLooks++
    const isTold = facts.deadStatus !== undefined || facts.deadSignal !== undefined
    if (!isTold && this.#deadLooks < 3) return this.#host.heal()
    this.#finish({ code: facts.deadStatus, signal: signalName(facts.deadSignal), atMs })
  }

  get target(): InputTarget {
    const target = { paneId: this.pane.paneId, tag: { option: tagOption, value: this.id } }
    const pid = this.#panePid
    return pid === undefined ? target : { ...target, pid }
  }

  /** Process of the pane as it was made; undefined where a crash came before that was noted. */
  get #panePid(): number | undefined {
    this.#wrapperPid ??= readWrapper(this.files)?.pid
    return this.#wrapperPid
  }

  /** With our tag, and not started anew by a person with something else in it. */
  #isOurs(facts: PaneFacts): boolean {
    return facts.tag === this.id && (this.#panePid === undefined || facts.pid === this.#panePid)
  }

  async #pasteAndRemove(runner: CaptureRunner, path: string, value: string): Promise<TmuxInputOutcome> {
    try {
      const mark = { option: pasteMarkOption, value }
      return await pasteFile(runner, { ...this.target, path, isBracketed: true, mark })
    } finally {
      await rm(path, { force: true })
    }
  }

  /** The sink ended or its log was removed: arm it again. What was printed in between is missing from the log. */
  async #repairSink(facts: PaneFacts): Promise<void> {
    if (facts.hasPipe && existsSync(this.files.log)) return
    const runner = this.#host.runnerFor(this.pane.instanceId)
    if (runner === undefined) return
    this.#host.log.write('warn', 'output log armed again', { terminalId: this.id, hadPipe: facts.hasPipe })
    ensureLog(this.files)
    await pipePane(runner, this.pane.paneId, sinkCommand(this.files))
  }

  /** What all followers have read may go; more only far beyond that, since a later follower comes with its own offset. */
  async #trimLog(): Promise<void> {
    const read = [...this.#followers].map((each) => each.offset)
    const log = { clock: this.#host.clock, logPath: this.files.log }
    const readUpTo = Math.min(...read, Number.MAX_SAFE_INTEGER)
    this.#tellOfTrim(await trimLog({ ...log, readUpTo, ...(read.length === 0 && { limits: unreadTrimLimits }) }))
  }

  #tellOfTrim(outcome: TrimOutcome): void {
    if (typeof outcome === 'object') {
      this.#host.log.write('warn', 'output log not trimmed', { terminalId: this.id, detail: outcome.detail })
    }
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.files.dir, { persistent: false }, (event, name) => this.#changed(event, name))
      this.#watcher.on('error', () => {
        this.#watcher?.close()
        this.#watcher = undefined
      })
    } catch (error) {
      // No directory yet or any more, or no watches left: the slow look stands in.
      this.#host.log.write('warn', 'terminal directory not watched', { terminalId: this.id, error: String(error) })
    }
  }

  #changed(event: string, name: string | null): void {
    if (name === null || name === 'output.log') {
      for (const follower of this.#followers) follower.wake()
      if (event === 'rename') this.#host.lookSoon()
    }
    if (name === null || name === 'exit') this.#lookForExit()
  }

  #lookForExit(): void {
    if (this.#isDone) return
    const exit = readExit(this.files)
    if (exit !== undefined) this.#finish(exit)
  }

  #finish(exit: Exit): void {
    if (this.#isDone || this.#isDisposed) return
    this.#isDone = true
    this.#exited.resolve(exit)
  }

  #judge(what: string, outcome: TmuxInputOutcome): InputOutcome {
    switch (outcome.kind) {
      case 'done':
        return outcome
      case 'gone':
      case 'dead':
      case 'input-off':
        return { kind: 'refused', reason: outcome.kind }
      case 'failed':
        throw failedFault(what, outcome.detail)
      case 'timed-out':
      case 'closed':
      case 'overloaded':
        throw unavailableFault(outcome)
    }
  }
}

/** The mark, when the pane still is the tagged one. */
async function readMark(runner: CaptureRunner, target: InputTarget): Promise<OptionOutcome> {
  const [tag, mark] = await Promise.all([
    readPaneOption(runner, target.paneId, target.tag.option),
    readPaneOption(runner, target.paneId, pasteMarkOption),
  ])
  if (tag.kind !== 'value') return tag
  return tag.value === target.tag.value ? mark : { kind: 'gone' }
}

function signalName(number: number | undefined): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
}

/**
 * Terminals on a private tmux server. The server and the agents on it outlive us; this part finds
 * or starts it, keeps one connection to it, tells once when a server life is over, and looks over
 * all panes every few seconds for what no event told.
 */
import { existsSync } from 'node:fs'
import type { Clock } from '../../async/clock.ts'
import { Scope } from '../../async/scope.ts'
import { SerialQueue } from '../../async/serial-queue.ts'
import { AppError } from '../../domain/errors.ts'
import {
  type InstanceId,
  makeInstanceId,
  parseTerminalId,
  type RandomHex,
  type SessionName,
  type TerminalId,
  trustId,
} from '../../domain/ids.ts'
import type { PaneRef } from '../../domain/terminal.ts'
import { Emitter } from '../../lib/emitter.ts'
import type { Log } from '../../lib/log.ts'
import type { ServerAddress } from '../../tmux/address.ts'
import type { CaptureRunner } from '../../tmux/capture.ts'
import { checkForeignServer, guestChanges, leaveForeignServer } from '../../tmux/foreign.ts'
import { type LinkEvent, TmuxLink } from '../../tmux/link.ts'
import { listPanes } from '../../tmux/panes.ts'
import { type EnsureOutcome, ensureServer, healLostExit, stopServer } from '../../tmux/server.ts'
import { endStaleClients } from '../../tmux/stale-clients.ts'
import { parseVersion } from '../../tmux/version.ts'
import type {
  BackendCapability,
  BackendFacts,
  BackendFinding,
  BackendLost,
  BackendTerminal,
  FoundTerminal,
  OpenOutcome,
  OpenPlan,
  TerminalBackend,
  Waiting,
} from '../backend.ts'
import { findProcesses } from './end-terminal.ts'
import { examineTmux } from './examine.ts'
import { failedFault, unavailableFault, untilAborted } from './faults.ts'
import { type AddressOptions, findAddress, keeperSession, planAddress } from './find-address.ts'
import { readWrapper, type TerminalFiles, terminalFiles } from './launch-files.ts'
import { type OpenedPane, openPane } from './open-terminal.ts'
import { PaneSweep, sweepLimits } from './pane-sweep.ts'
import { signalAll, waitForEnd } from './process-session.ts'
import { requireTmux } from './require-tmux.ts'
import { ServerWatch } from './server-watch.ts'
import { endLateCreation, Tidier } from './tidy.ts'
import { type TerminalHost, TmuxTerminal, tagOption } from './tmux-terminal.ts'

export const backendLimits = {
  ensureWaitingMax: 64,
  /** From the end of the server until agents that outlived their terminals are ended. */
  shutdownGraceMs: 2_000,
} as const

export type TmuxBackendOptions = AddressOptions & {
  readonly clock: Clock
  readonly log: Log
  readonly randomHex: RandomHex
}

export function createTmuxBackend(options: TmuxBackendOptions): TerminalBackend {
  return new TmuxBackend(options)
}

class TmuxBackend implements TerminalBackend, TerminalHost {
  readonly name = 'tmux'
  readonly capabilities: ReadonlySet<BackendCapability> = new Set([
    'survives-server-restart',
    'human-can-attach',
    'reports-title',
  ])
  readonly clock: Clock
  readonly log: Log
  readonly #options: TmuxBackendOptions
  #address: ServerAddress
  readonly #ensuring = new SerialQueue('start of the tmux server', backendLimits.ensureWaitingMax)
  readonly #lost: Emitter<BackendLost>
  readonly #terminals = new Set<TmuxTerminal>()
  readonly #scope: Scope
  readonly #sweep: PaneSweep
  readonly #tidier: Tidier
  readonly #answering: Emitter<boolean>
  #link: TmuxLink | undefined
  #life: ServerWatch | undefined
  readonly onLost: (listener: (lost: BackendLost) => void) => Disposable
  readonly onAnswering: (listener: (isAnswering: boolean) => void) => Disposable

  constructor(options: TmuxBackendOptions) {
    this.#options = options
    this.clock = options.clock
    this.log = options.log.child({ part: 'tmux' })
    this.#address = planAddress(options)
    const onListenerError = (error: unknown) => this.log.write('error', 'listener failed', { error: String(error) })
    this.#lost = new Emitter(onListenerError)
    this.onLost = this.#lost.on
    this.#answering = new Emitter(onListenerError)
    this.onAnswering = this.#answering.on
    this.#tidier = new Tidier(this.clock, keeperSession, options.terminalsDir)
    const { clock, log } = this
    const onAnswering = (isAnswering: boolean) => this.#answering.emit(isAnswering)
    this.#sweep = new PaneSweep({ clock, log, look: () => this.#lookOver(), onAnswering })
    this.#scope = new Scope(this.clock, (name, error) =>
      this.log.write('error', 'loop crashed', { name, error: String(error) }),
    )
    this.#scope.spawn('look over all panes', (signal) => this.#sweep.run(signal))
  }

  ensure(waiting: Waiting): Promise<BackendFacts> {
    return untilAborted(
      this.#ensuring.run(() => this.#ensure()),
      waiting,
    )
  }

  async #ensure(): Promise<BackendFacts> {
    const version = await requireTmux(this.clock, this.#address)
    if (this.#life === undefined) {
      this.#address = await findAddress(this.clock, this.#address, this.#options.socketPath !== undefined)
    }
    const outcome = await this.#ensureServer()
    if (outcome.kind === 'failed')
      throw new AppError('BACKEND_GONE', `the tmux server can not be started: ${outcome.detail}`)
    if (outcome.kind === 'unknown')
      throw new AppError('BACKEND_TIMEOUT', `the tmux server is in doubt (${outcome.why}): ${outcome.detail}`)
    if (outcome.complaints !== '')
      this.log.write('warn', 'parts of the tmux start failed; all essential ones stand', { why: outcome.complaints })
    this.#takeLife(outcome)
    await this.#connect()
    const { pid, startTimeS } = outcome.facts
    const details = {
      socket: this.#address.socketPath,
      pid: String(pid),
      started: new Date(startTimeS * 1000).toISOString(),
      keeper: keeperSession,
      ...(outcome.isForeign ? { foreign: `not started by CAO and never ended by it; set there: ${guestChanges}` } : {}),
      ...(outcome.complaints === '' ? {} : { complaints: outcome.complaints }),
    }
    return {
      name: this.name,
      version: version.text,
      instanceId: trustId<InstanceId>(outcome.facts.instance),
      details,
    }
  }

  #ensureServer(): Promise<EnsureOutcome> {
    const known = this.#life?.isOver === false ? this.#life.server.facts.instance : undefined
    const instance = known ?? makeInstanceId(this.#options.randomHex)
    return ensureServer({ clock: this.clock, address: this.#address, instance })
  }

  /** A life that differs from the one known before means that the known one is over. */
  #takeLife(server: Extract<EnsureOutcome, { kind: 'running' }>): void {
    const known = this.#life
    const isSame = known !== undefined && !known.isOver && known.server.facts.instance === server.facts.instance
    if (isSame && known.server.identity.pid === server.identity.pid) return
    if (known !== undefined && !known.isOver) {
      known[Symbol.dispose]()
      this.#tellLost(known.server, 'the tmux server was replaced')
    }
    const onLost = (reason: string) => this.#tellLost(server, reason)
    const { clock, log } = this
    const { isForeign } = server
    const dropConnection = () => this.#link?.dropConnection('the server refuses everybody')
    this.#life = new ServerWatch({ clock, log, address: this.#address, server, isForeign, dropConnection, onLost })
  }

  #tellLost(server: ServerWatch['server'], reason: string): void {
    const instanceId = trustId<InstanceId>(server.facts.instance)
    this.log.write('error', 'tmux server lost', { instanceId, reason })
    this.#lost.emit({ instanceId, reason })
  }

  async #connect(): Promise<void> {
    if (this.#link !== undefined) {
      this.#link.retryNow()
      return
    }
    const stale = endStaleClients(this.#address.confPath)
    if (stale.length > 0) this.log.write('warn', 'control clients of a dead server ended', { pids: stale })
    const { link, first } = await TmuxLink.open({ clock: this.clock, address: this.#address, log: this.log })
    this.#link = link
    link.onEvent((event) => this.#onLinkEvent(event))
    if (first.kind !== 'open') this.log.write('warn', 'no connection yet', { why: first.why, detail: first.detail })
  }

  #onLinkEvent(event: LinkEvent): void {
    if (event.kind !== 'notification') {
      this.#life?.check()
      // Looks that failed meanwhile are looked at again.
      if (event.kind === 'up') this.#answering.emit(true)
      if (event.kind !== 'retry-failed') this.log.write('info', 'tmux connection', { state: event.kind })
      else if (event.why === 'no-target') this.#restoreKeeper()
    } else if (/^(unlinked-window-close|window-close|sessions-changed)$/.test(event.notification.name)) {
      this.#sweep.soon()
    }
  }

  /** Somebody has ended the session that our connection hangs on; everything else on the server lives. */
  #restoreKeeper(): void {
    this.#scope.spawn('restore the keeper session', async () => {
      const { kind } = await this.#ensuring.run(() => this.#ensureServer())
      this.log.write('warn', 'keeper session was gone', { outcome: kind })
      this.#link?.retryNow()
    })
  }

  runnerFor(instanceId: InstanceId): CaptureRunner | undefined {
    const { life, link } = this.#require()
    return life.isOver || life.server.facts.instance !== instanceId ? undefined : link
  }

  #require(): { readonly life: ServerWatch; readonly link: TmuxLink } {
    if (this.#life === undefined || this.#link === undefined) {
      throw new AppError('BACKEND_GONE', 'the tmux server was not looked for yet')
    }
    return { life: this.#life, link: this.#link }
  }

  /** As #require, for calls that need the server to live. */
  #requireAlive(): { readonly instanceId: InstanceId; readonly link: TmuxLink } {
    const { life, link } = this.#require()
    if (life.isOver) throw new AppError('BACKEND_GONE', 'the tmux server is gone')
    return { instanceId: trustId<InstanceId>(life.server.facts.instance), link }
  }

  async open(plan: OpenPlan, waiting: Waiting): Promise<OpenOutcome> {
    const { instanceId, link } = this.#requireAlive()
    const files = terminalFiles(this.#options.terminalsDir, plan.terminalId)
    const opening = this.#openPane(link, files, plan)
    const attach = (paneId: string) => this.attach(plan.terminalId, { instanceId, paneId })
    try {
      const opened = await untilAborted(opening, waiting)
      return opened.kind === 'refused' ? opened : { kind: 'opened', terminal: attach(opened.paneId) }
    } catch (error) {
      if (waiting.signal.aborted) this.#undoLate(opening, attach)
      throw error
    }
  }

  async #openPane(runner: TmuxLink, files: TerminalFiles, plan: OpenPlan): Promise<OpenedPane> {
    const { life } = this.#require()
    const { isForeign, server } = life
    const version = parseVersion(`tmux ${server.facts.version}`)
    if (isForeign && version !== undefined) {
      const check = await checkForeignServer(runner, version)
      if (check.kind === 'refused') throw new AppError('LAUNCH_FAILED', check.detail)
      if (check.kind !== 'usable') throw unavailableFault(check)
    }
    try {
      return await openPane({ clock: this.clock, runner, files, plan, isOwnServer: !isForeign })
    } catch (error) {
      if (error instanceof AppError && error.code === 'BACKEND_TIMEOUT') {
        this.#scope.spawn('end a late creation', (signal) =>
          endLateCreation({ clock: this.clock, runner, terminalId: plan.terminalId, tagOption, signal }),
        )
      }
      throw error
    }
  }

  /** Nobody waits any more for a terminal that is being opened: it is ended when it is there. */
  #undoLate(opening: Promise<OpenedPane>, attach: (paneId: string) => BackendTerminal): void {
    this.#scope.spawn('undo an abandoned open', async () => {
      const late = await opening.catch(() => undefined)
      if (late?.kind !== 'opened') return
      await using terminal = attach(late.paneId)
      await terminal.destroy({ graceMs: 0 }, { signal: new AbortController().signal })
    })
  }

  async list(waiting: Waiting): Promise<readonly FoundTerminal[]> {
    const { instanceId, link } = this.#requireAlive()
    const outcome = await untilAborted(listPanes(link, tagOption), waiting)
    if (outcome.kind === 'failed') throw failedFault('list its panes', outcome.detail)
    if (outcome.kind !== 'listed') throw unavailableFault(outcome)
    if (outcome.instance !== instanceId) {
      this.#life?.check()
      throw new AppError('BACKEND_GONE', 'another tmux server stands in the place of ours')
    }
    return outcome.panes.flatMap((facts) => {
      const terminalId = parseTerminalId(facts.tag)
      if (terminalId === undefined || this.#isRespawned(terminalId, facts.pid)) return []
      const { sessionName, windowName, isDead } = facts
      return [{ terminalId, pane: { instanceId, paneId: facts.paneId }, sessionName, windowName, isDead }]
    })
  }

  /** A person has started something else in the pane. */
  #isRespawned(terminalId: TerminalId, panePid: number): boolean {
    const wrapper = readWrapper(terminalFiles(this.#options.terminalsDir, terminalId))
    return wrapper !== undefined && wrapper.pid !== panePid
  }

  attach(terminalId: TerminalId, pane: PaneRef): BackendTerminal {
    const files = terminalFiles(this.#options.terminalsDir, terminalId)
    const terminal = new TmuxTerminal(this, files, terminalId, pane)
    this.#terminals.add(terminal)
    return terminal
  }

  release(terminal: TmuxTerminal): void {
    this.#terminals.delete(terminal)
  }

  heal(): void {
    const life = this.#life
    if (life === undefined || life.isOver) return
    healLostExit(this.clock, life.server.identity).catch((error: unknown) => {
      this.log.write('warn', 'could not heal a lost exit', { error: String(error) })
    })
    this.#sweep.soon()
  }

  lookSoon(): void {
    this.#sweep.soon()
  }

  examine(waiting: Waiting): Promise<readonly BackendFinding[]> {
    return untilAborted(examineTmux({ clock: this.clock, address: this.#address, ...this.#require() }), waiting)
  }

  attachArgv(sessionName: SessionName, pane: PaneRef | undefined): readonly string[] {
    const base = [this.#address.tmux, '-u', '-S', this.#address.socketPath]
    const select =
      pane === undefined ? [] : ['select-window', '-t', pane.paneId, ';', 'select-pane', '-t', pane.paneId, ';']
    return [...base, ...select, 'attach-session', '-t', `=${sessionName}`]
  }

  async shutdown(waiting: Waiting): Promise<void> {
    await untilAborted(this.#shutdown(), waiting)
  }

  async #shutdown(): Promise<void> {
    const { clock } = this
    const { life, link } = this.#require()
    const outcome = life.isOver ? undefined : await listPanes(link, tagOption)
    const found = outcome?.kind === 'listed' ? outcome.panes : []
    const ids = found.flatMap(({ tag }) => parseTerminalId(tag) ?? [])
    const files = ids.map((id) => terminalFiles(this.#options.terminalsDir, id))
    const processes = (await Promise.all(files.map((each) => findProcesses(clock, each)))).flat()
    life[Symbol.dispose]()
    this.#link = undefined
    const closeClients = () => link[Symbol.asyncDispose]()
    if (life.isForeign) {
      await closeClients()
      await leaveForeignServer(clock, this.#address)
      this.#life = undefined
      return
    }
    const stopped = await stopServer({ clock, address: this.#address, identity: life.server.identity, closeClients })
    this.#life = undefined
    const areGone = await waitForEnd(clock, processes, backendLimits.shutdownGraceMs)
    if (!areGone) await signalAll(clock, processes, 'SIGKILL')
    if (stopped.kind === 'still-there') throw new AppError('BACKEND_TIMEOUT', 'the tmux server could not be ended')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life?.[Symbol.dispose]()
    await this.#scope[Symbol.asyncDispose]()
    for (const terminal of this.#terminals) await terminal[Symbol.asyncDispose]()
    await this.#link?.[Symbol.asyncDispose]()
  }

  async #lookOver(): Promise<'answered' | 'silent' | 'idle'> {
    const [life, link] = [this.#life, this.#link]
    if (life === undefined || link === undefined || life.isOver) return 'idle'
    // The connection stands without it, but nobody else can come in.
    if (!existsSync(this.#address.socketPath)) life.check()
    // Taken before the list is: a terminal that comes meanwhile may not be in it.
    const terminals = [...this.#terminals].filter((each) => each.pane.instanceId === life.server.facts.instance)
    if (terminals.length === 0 && !this.#tidier.isDue) return 'idle'
    const outcome = await listPanes(link, tagOption, sweepLimits.answerLimitMs)
    if (life.isOver || outcome.kind === 'failed') return 'idle'
    if (outcome.kind !== 'listed') {
      life.check()
      return 'silent'
    }
    if (outcome.instance !== life.server.facts.instance) {
      life.check()
      return 'answered'
    }
    const byId = new Map(outcome.panes.map((facts) => [facts.paneId, facts]))
    for (const terminal of terminals) await terminal.observe(byId.get(terminal.pane.paneId))
    await this.#tidier.trimUnread(outcome.panes, new Set(terminals.map(({ id }) => id)))
    if (!life.isForeign) await this.#tidier.tidy(link, outcome.panes)
    return 'answered'
  }
}

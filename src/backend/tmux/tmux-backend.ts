/**
 * Terminals on a private tmux server. The server and the agents on it outlive us; this part finds
 * or starts it, keeps one connection to it, tells once when a server life is over, and looks over
 * all panes every few seconds for what no event told.
 */
import type { Clock } from '../../async/clock.ts'
import { Scope } from '../../async/scope.ts'
import { SerialQueue } from '../../async/serial-queue.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
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
import { type ServerAddress, scrubEnvironment } from '../../tmux/address.ts'
import type { CaptureRunner } from '../../tmux/capture.ts'
import { type LinkEvent, TmuxLink } from '../../tmux/link.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'
import { killPane, listPanes } from '../../tmux/panes.ts'
import { ensureServer, healLostExit, type RunningServer, stopServer } from '../../tmux/server.ts'
import { chooseSocketPath } from '../../tmux/socket-path.ts'
import { deleteStrayBuffers } from '../../tmux/stray-buffers.ts'
import { probeVersion } from '../../tmux/version.ts'
import type {
  BackendCapability,
  BackendFacts,
  BackendLost,
  BackendTerminal,
  FoundTerminal,
  OpenOutcome,
  OpenPlan,
  TerminalBackend,
  Waiting,
} from '../backend.ts'
import { failedFault, unavailableFault, untilAborted } from './faults.ts'
import { readWrapper, terminalFiles } from './launch-files.ts'
import { type OpenedPane, openPane } from './open-terminal.ts'
import { findSessionMembers, signalAll, waitForEnd } from './process-session.ts'
import { ServerWatch } from './server-watch.ts'
import { type TerminalHost, TmuxTerminal, tagOption } from './tmux-terminal.ts'

export const backendLimits = {
  /** Between two looks over all panes when nothing calls for one earlier. */
  sweepMs: 5_000,
  /** Between two looks for paste buffers that were left. */
  tidyEveryMs: 15_000,
  ensureWaitingMax: 64,
  /** From the end of the server until agents that outlived their terminals are ended. */
  shutdownGraceMs: 2_000,
} as const

export type TmuxBackendOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly randomHex: RandomHex
  /** Where the socket should lie, as CAO_HOME/run. */
  readonly runDir: string
  /** One directory per terminal is made in it. */
  readonly terminalsDir: string
  /** Environment of this process; little of it reaches tmux and nothing of it an agent. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly tempDir: string
  /** The tmux program; by default the one on PATH. */
  readonly tmux?: string
}

/** No session of a user can have it: those begin with cao-. */
export const keeperSession = '__cao_keeper'

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
  readonly #address: ServerAddress
  readonly #ensuring = new SerialQueue('start of the tmux server', backendLimits.ensureWaitingMax)
  readonly #lost: Emitter<BackendLost>
  readonly #terminals = new Set<TmuxTerminal>()
  readonly #scope: Scope
  readonly #sweepNow = new SignalLatch()
  #tidyAtMs = 0
  #link: TmuxLink | undefined
  #life: ServerWatch | undefined
  readonly onLost: (listener: (lost: BackendLost) => void) => Disposable

  constructor(options: TmuxBackendOptions) {
    this.#options = options
    this.clock = options.clock
    this.log = options.log.child({ part: 'tmux' })
    const uid = process.getuid?.() ?? 0
    const { runDir, tempDir, env } = options
    const socketPath = chooseSocketPath({ runDir, tempDir, uid, runtimeDir: env['XDG_RUNTIME_DIR'] })
    this.#address = {
      tmux: options.tmux ?? 'tmux',
      socketPath,
      confPath: `${socketPath}.conf`,
      env: scrubEnvironment(env),
      keeperSession,
    }
    this.#lost = new Emitter((error) => this.log.write('error', 'listener failed', { error: String(error) }))
    this.onLost = this.#lost.on
    this.#scope = new Scope(this.clock, (name, error) =>
      this.log.write('error', 'loop crashed', { name, error: String(error) }),
    )
    this.#scope.spawn('look over all panes', (signal) => this.#sweepLoop(signal))
  }

  ensure(waiting: Waiting): Promise<BackendFacts> {
    return untilAborted(
      this.#ensuring.run(() => this.#ensure()),
      waiting,
    )
  }

  async #ensure(): Promise<BackendFacts> {
    const { clock } = this
    const probe = await probeVersion(clock, this.#address.tmux, this.#address.env)
    if (probe.kind === 'missing')
      throw new AppError('SETUP_MISSING', 'tmux is not installed; install it, for example with `apt install tmux`')
    if (probe.kind === 'too-old') {
      throw new AppError('SETUP_MISSING', `tmux ${probe.version.text} is too old; CAO needs ${probe.minimum} or newer`)
    }
    if (probe.kind === 'unreadable')
      throw new AppError('SETUP_MISSING', `the installed tmux does not tell its version: ${probe.detail}`)
    const outcome = await ensureServer({
      clock,
      address: this.#address,
      instance: makeInstanceId(this.#options.randomHex),
    })
    if (outcome.kind === 'failed')
      throw new AppError('BACKEND_GONE', `the tmux server can not be started: ${outcome.detail}`)
    if (outcome.kind === 'unknown')
      throw new AppError('BACKEND_TIMEOUT', `the tmux server is in doubt (${outcome.why}): ${outcome.detail}`)
    this.#takeLife(outcome)
    await this.#connect()
    const { pid, startTimeS } = outcome.facts
    const details = {
      socket: this.#address.socketPath,
      pid: String(pid),
      started: new Date(startTimeS * 1000).toISOString(),
      keeper: keeperSession,
    }
    return {
      name: this.name,
      version: probe.version.text,
      instanceId: trustId<InstanceId>(outcome.facts.instance),
      details,
    }
  }

  /** A life that differs from the one known before means that the known one is over. */
  #takeLife(server: RunningServer): void {
    const known = this.#life
    const isSame = known !== undefined && !known.isOver && known.server.facts.instance === server.facts.instance
    if (isSame && known.server.identity.pid === server.identity.pid) return
    if (known !== undefined && !known.isOver) {
      known[Symbol.dispose]()
      this.#tellLost(known.server, 'the tmux server was replaced')
    }
    const onLost = (reason: string) => this.#tellLost(server, reason)
    this.#life = new ServerWatch({ clock: this.clock, log: this.log, address: this.#address, server, onLost })
  }

  #tellLost(server: RunningServer, reason: string): void {
    const instanceId = trustId<InstanceId>(server.facts.instance)
    this.log.write('error', 'tmux server lost', { instanceId, reason })
    this.#lost.emit({ instanceId, reason })
  }

  async #connect(): Promise<void> {
    if (this.#link !== undefined) {
      this.#link.retryNow()
      return
    }
    const { link, first } = await TmuxLink.open({ clock: this.clock, address: this.#address, log: this.log })
    this.#link = link
    link.onEvent((event) => this.#onLinkEvent(event))
    if (first.kind !== 'open') this.log.write('warn', 'no connection yet', { why: first.why, detail: first.detail })
  }

  #onLinkEvent(event: LinkEvent): void {
    if (event.kind !== 'notification') {
      if (event.kind !== 'retry-failed') this.log.write('info', 'tmux connection', { state: event.kind })
      this.#life?.check()
    } else if (/^(unlinked-window-close|window-close|sessions-changed)$/.test(event.notification.name)) {
      this.#sweepNow.raise()
    }
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
    const opening = openPane({ clock: this.clock, runner: link, files, plan })
    const attach = (paneId: string) => this.attach(plan.terminalId, { instanceId, paneId })
    try {
      const opened = await untilAborted(opening, waiting)
      return opened.kind === 'refused' ? opened : { kind: 'opened', terminal: attach(opened.paneId) }
    } catch (error) {
      if (waiting.signal.aborted) this.#undoLate(opening, attach)
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
      if (terminalId === undefined) return []
      const { sessionName, windowName, isDead } = facts
      return [{ terminalId, pane: { instanceId, paneId: facts.paneId }, sessionName, windowName, isDead }]
    })
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
    this.#sweepNow.raise()
  }

  lookSoon(): void {
    this.#sweepNow.raise()
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
    const found = life.isOver
      ? []
      : await listPanes(link, tagOption).then((outcome) => (outcome.kind === 'listed' ? outcome.panes : []))
    const leaders = found.flatMap((facts) => {
      const terminalId = parseTerminalId(facts.tag)
      return terminalId === undefined ? [] : (readWrapper(terminalFiles(this.#options.terminalsDir, terminalId)) ?? [])
    })
    const members = (await Promise.all(leaders.map((leader) => findSessionMembers(clock, leader, [])))).flat()
    life[Symbol.dispose]()
    this.#link = undefined
    const closeClients = () => link[Symbol.asyncDispose]()
    const stopped = await stopServer({ clock, address: this.#address, identity: life.server.identity, closeClients })
    this.#life = undefined
    if (!(await waitForEnd(clock, members, backendLimits.shutdownGraceMs))) await signalAll(clock, members, 'SIGKILL')
    if (stopped.kind === 'still-there') throw new AppError('BACKEND_TIMEOUT', 'the tmux server could not be ended')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life?.[Symbol.dispose]()
    await this.#scope[Symbol.asyncDispose]()
    for (const terminal of this.#terminals) await terminal[Symbol.asyncDispose]()
    await this.#link?.[Symbol.asyncDispose]()
  }

  async #sweepLoop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#sweepNow.wait(this.clock, backendLimits.sweepMs, signal)
      if (signal.aborted) return
      try {
        await this.#sweep()
      } catch (error) {
        this.log.write('error', 'look over all panes failed', { error: String(error) })
      }
    }
  }

  async #sweep(): Promise<void> {
    const [life, link] = [this.#life, this.#link]
    if (life === undefined || link === undefined || life.isOver) return
    // Taken before the list is: a terminal that comes meanwhile may not be in it.
    const terminals = [...this.#terminals].filter((each) => each.pane.instanceId === life.server.facts.instance)
    if (terminals.length === 0) return
    const outcome = await listPanes(link, tagOption)
    if (outcome.kind !== 'listed' || life.isOver) return
    if (outcome.instance !== life.server.facts.instance) return life.check()
    const byId = new Map(outcome.panes.map((facts) => [facts.paneId, facts]))
    for (const terminal of terminals) await terminal.observe(byId.get(terminal.pane.paneId))
    await this.#tidy(link, outcome.panes)
  }

  /**
   * What nobody comes back for: buffers of lines that were cut short, and dead panes that are no terminal's. The latter
   * were a person's, beside an agent; they stay dead because our panes must (remain-on-exit), and would keep the window.
   */
  async #tidy(link: TmuxLink, panes: readonly PaneFacts[]): Promise<void> {
    const strays = panes.filter(({ isDead, tag, sessionName }) => isDead && tag === '' && sessionName !== keeperSession)
    for (const { paneId } of strays) await killPane(link, paneId)
    const nowMs = this.clock.monotonicMs()
    if (nowMs < this.#tidyAtMs) return
    this.#tidyAtMs = nowMs + backendLimits.tidyEveryMs
    await deleteStrayBuffers(link, this.clock.nowMs())
  }
}

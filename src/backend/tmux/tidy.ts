/**
 * Removes from our own server what nobody comes back for: buffers of lines that were cut short, and dead panes that are
 * no terminal's. The latter were a person's, beside an agent; they stay dead because our panes must (remain-on-exit), and
 * would keep the window.
 */
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { parseTerminalId } from '../../domain/ids.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'
import { killPane, listPanes } from '../../tmux/panes.ts'
import type { Runner } from '../../tmux/runner.ts'
import { deleteStrayBuffers } from '../../tmux/stray-buffers.ts'
import { terminalFiles } from './launch-files.ts'
import { trimLog, unreadTrimLimits } from './log-trim.ts'

/** After a creation that tmux did not answer: how often it is looked for, and how often in vain while tmux answers. */
const lateEveryMs = 1_000
const lateLooksMax = 3
const lateLimitMs = 600_000

export type LateCreation = {
  readonly clock: Clock
  readonly runner: Runner
  readonly terminalId: string
  readonly tagOption: string
  readonly signal: AbortSignal
}

/**
 * A server that stood still may carry out a creation that was given up. No agent starts then, for its launch file is
 * gone: what stays is a dead pane with the tag, which is removed. A living one is never touched here.
 */
export async function endLateCreation(options: LateCreation): Promise<void> {
  const { clock, runner, terminalId, tagOption, signal } = options
  const endMs = clock.monotonicMs() + lateLimitMs
  for (let looks = 0; looks < lateLooksMax && clock.monotonicMs() < endMs; ) {
    await sleep(clock, lateEveryMs, signal)
    const outcome = await listPanes(runner, tagOption)
    if (outcome.kind !== 'listed') continue
    looks++
    const late = outcome.panes.filter((each) => each.tag === terminalId && each.isDead)
    for (const { paneId } of late) await killPane(runner, paneId)
  }
}

/** Between two looks for paste buffers that were left. */
const buffersEveryMs = 15_000
/** Between two looks at the logs of agents that nobody watches. */
const unreadEveryMs = 60_000

export class Tidier {
  readonly #clock: Clock
  readonly #keeperSession: string
  readonly #terminalsDir: string
  #buffersAtMs = 0
  #unreadAtMs = 0

  constructor(clock: Clock, keeperSession: string, terminalsDir: string) {
    this.#clock = clock
    this.#keeperSession = keeperSession
    this.#terminalsDir = terminalsDir
  }

  /** Whether the panes are worth a look although nobody watches any. */
  get isDue(): boolean {
    return this.#clock.monotonicMs() >= this.#unreadAtMs
  }

  /** Bounds the logs of panes with our tag that are none of `watched`: they have no row, or could not be taken up. */
  async trimUnread(panes: readonly PaneFacts[], watched: ReadonlySet<string>): Promise<void> {
    if (!this.isDue) return
    this.#unreadAtMs = this.#clock.monotonicMs() + unreadEveryMs
    for (const { tag } of panes) {
      const id = parseTerminalId(tag)
      if (id === undefined || watched.has(id)) continue
      const { log } = terminalFiles(this.#terminalsDir, id)
      await trimLog({
        clock: this.#clock,
        logPath: log,
        readUpTo: Number.MAX_SAFE_INTEGER,
        limits: unreadTrimLimits,
      })
    }
  }

  async tidy(runner: Runner, panes: readonly PaneFacts[]): Promise<void> {
    const strays = panes.filter((each) => each.isDead && each.tag === '' && each.sessionName !== this.#keeperSession)
    for (const { paneId } of strays) await killPane(runner, paneId)
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#buffersAtMs) return
    this.#buffersAtMs = nowMs + buffersEveryMs
    await deleteStrayBuffers(runner, this.#clock.nowMs())
  }
}

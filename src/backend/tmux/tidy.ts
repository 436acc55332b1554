/**
 * Removes from our own server what nobody comes back for: buffers of lines that were cut short, and dead panes that are
 * no terminal's. The latter were a person's, beside an agent; they stay dead because our panes must (remain-on-exit), and
 * would keep the window.
 */
import type { Clock } from '../../async/clock.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'
import { killPane } from '../../tmux/panes.ts'
import type { Runner } from '../../tmux/runner.ts'
import { deleteStrayBuffers } from '../../tmux/stray-buffers.ts'

/** Between two looks for paste buffers that were left. */
const buffersEveryMs = 15_000

export class Tidier {
  readonly #clock: Clock
  readonly #keeperSession: string
  #buffersAtMs = 0

  constructor(clock: Clock, keeperSession: string) {
    this.#clock = clock
    this.#keeperSession = keeperSession
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

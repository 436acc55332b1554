/**
 * Watches over one life of the tmux server: tells once when it is over, and repairs what can be
 * repaired without ending anything: a removed socket is made again. Only a server that has turned
 * everybody away for twelve seconds, which tmux never recovers from, is ended.
 * A server that merely does not answer is asked again and again; nothing is concluded from it.
 */
import type { Clock } from '../../async/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { ServerAddress } from '../../tmux/address.ts'
import { type Liveness, probeLiveness } from '../../tmux/liveness.ts'
import { signalProcess } from '../../tmux/process-identity.ts'
import { type RunningServer, recreateSocket, serverLimits } from '../../tmux/server.ts'

export type ServerWatchOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly address: ServerAddress
  readonly server: RunningServer
  /** Somebody else's: never ended. */
  readonly isForeign: boolean
  /** Ends our own connection: while a client does not drain, a server that is told to end can not. */
  readonly dropConnection: () => void
  /** Called once, with the reason in words. */
  readonly onLost: (reason: string) => void
}

export class ServerWatch implements Disposable {
  readonly #options: ServerWatchOptions
  #isOver = false
  #isChecking = false
  #mustCheckAgain = false
  #refusingSinceMs: number | undefined

  constructor(options: ServerWatchOptions) {
    this.#options = options
  }

  get server(): RunningServer {
    return this.#options.server
  }

  get isForeign(): boolean {
    return this.#options.isForeign
  }

  /** True from the moment the server is known to be gone. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Looks whether the server still lives. Calls during a look lead to one more. */
  check(): void {
    if (this.#isOver) return
    if (this.#isChecking) {
      this.#mustCheckAgain = true
      return
    }
    this.#isChecking = true
    void this.#checkUntilQuiet()
  }

  /** Stops watching; `onLost` is not called any more. */
  [Symbol.dispose](): void {
    this.#isOver = true
  }

  async #checkUntilQuiet(): Promise<void> {
    const { clock, log, address, server } = this.#options
    do {
      this.#mustCheckAgain = false
      try {
        await this.#judge(await probeLiveness(clock, address, server.identity))
      } catch (error) {
        log.write('error', 'look at the tmux server failed', { error: String(error) })
      }
    } while (this.#mustCheckAgain && !this.#isOver)
    this.#isChecking = false
  }

  async #judge(liveness: Liveness): Promise<void> {
    const { clock, log, address, server, isForeign } = this.#options
    if (this.#isOver) return
    if (liveness.kind !== 'unknown' || liveness.why !== 'refusing') this.#refusingSinceMs = undefined
    if (liveness.kind === 'absent') return this.#lose(`the tmux server is gone (${liveness.detail})`)
    if (liveness.kind === 'present') {
      const isSame = liveness.facts.pid === server.identity.pid && liveness.facts.instance === server.facts.instance
      if (isSame) return
      // Ours may live on behind it, its socket taken: then it gets it back.
      const again = isForeign ? liveness : await recreateSocket(clock, address, server.identity)
      if (again.kind !== 'present' || again.facts.pid !== server.identity.pid) {
        this.#lose('another tmux server stands in its place')
      }
      return
    }
    log.write('warn', 'tmux server in doubt', { why: liveness.why, detail: liveness.detail })
    if (liveness.why === 'socket-removed') await recreateSocket(clock, address, server.identity)
    if (liveness.why !== 'refusing' || isForeign) return
    this.#options.dropConnection()
    this.#refusingSinceMs ??= clock.monotonicMs()
    if (clock.monotonicMs() - this.#refusingSinceMs < serverLimits.wedgedAfterMs) return
    log.write('error', 'tmux server refuses everybody for good; ending it', { pid: server.identity.pid })
    await signalProcess(clock, server.identity, 'SIGKILL')
    this.#mustCheckAgain = true
  }

  #lose(reason: string): void {
    this.#isOver = true
    this.#options.onLost(reason)
  }
}

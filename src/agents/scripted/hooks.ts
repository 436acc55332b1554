/**
 * Tells another program what happens: each event runs the given argv with the event's name added and JSON on
 * stdin, one at a time, in order. The agent waits for it, but never longer than `hookLimitMs`.
 */
import { spawn } from 'node:child_process'
import type { Clock } from '../../async/clock.ts'
import { SerialQueue } from '../../async/serial-queue.ts'

export const hookLimitMs = 2_000
/** Events that may wait for a slow hook; more are dropped, and the screen says so. */
export const hooksWaitingMax = 200

export type HookOutcome = 'told' | 'failed' | 'timed-out' | 'off'

export type HookOptions = {
  readonly argv: readonly string[]
  readonly clock: Clock
  /** Added to every payload. */
  readonly base: Readonly<Record<string, unknown>>
}

export class Hooks {
  readonly #options: HookOptions
  readonly #queue = new SerialQueue('hooks', hooksWaitingMax)

  constructor(options: HookOptions) {
    this.#options = options
  }

  /** Settles when the event has been told or given up. Errors: QueueFullError. */
  tell(event: string, payload: Readonly<Record<string, unknown>> = {}): Promise<HookOutcome> {
    const [file, ...args] = this.#options.argv
    if (file === undefined) return Promise.resolve('off')
    const body = JSON.stringify({ event, at: this.#options.clock.nowMs(), ...this.#options.base, ...payload })
    return this.#queue.run(() => runHook(this.#options.clock, [file, ...args, event], body))
  }
}

function runHook(clock: Clock, argv: readonly string[], body: string): Promise<HookOutcome> {
  return new Promise((resolve) => {
    const [file = '', ...args] = argv
    const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'] })
    const timer = clock.after(hookLimitMs, () => {
      child.kill('SIGKILL')
      resolve('timed-out')
    })
    const end = (outcome: HookOutcome) => {
      timer[Symbol.dispose]()
      resolve(outcome)
    }
    child.once('error', () => end('failed'))
    child.once('exit', (code) => end(code === 0 ? 'told' : 'failed'))
    // A hook may end without reading; that is its right.
    child.stdin.on('error', () => undefined)
    child.stdin.end(body)
  })
}

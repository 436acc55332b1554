/**
 * One thing at a time, in order, with a limit: the queue that each terminal's keyboard goes through.
 * A task that fails does not stop the next one.
 */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve()
  #length = 0
  readonly #lengthMax: number
  readonly #name: string

  constructor(name: string, lengthMax: number) {
    this.#name = name
    this.#lengthMax = lengthMax
  }

  get length(): number {
    return this.#length
  }

  /** Runs `task` after all earlier ones. Errors: QueueFullError at once when `lengthMax` tasks wait or run; the task's own. */
  run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#length >= this.#lengthMax) {
      return Promise.reject(new QueueFullError(`${this.#name}: ${this.#lengthMax} tasks wait already`))
    }
    this.#length++
    // The place is free again before the caller learns of the end, so that one who waits for each task never finds it full.
    const result = this.#tail.then(task).finally(() => {
      this.#length--
    })
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await this.#tail
  }
}

/**
 * The smallest event emitter: private `emit`, public `on` that returns its own undo.
 * A listener that throws never stops the others; its error goes to `onError`.
 */
export class Emitter<T> {
  readonly #listeners = new Set<{ readonly call: (value: T) => void }>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Calls `listener` for every later value until the returned disposable is disposed. */
  readonly on = (listener: (value: T) => void): Disposable => {
    // Wrapped, so that the same function added twice is two listeners with an undo each.
    const entry = { call: listener }
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }

  /** A listener removed meanwhile is not called any more; one added meanwhile hears of the next value. */
  emit(value: T): void {
    const present = [...this.#listeners]
    for (const listener of present) {
      if (!this.#listeners.has(listener)) continue
      try {
        listener.call(value)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  get size(): number {
    return this.#listeners.size
  }
}

/**
 * The smallest event emitter: private `emit`, public `on` that returns its own undo.
 * A listener that throws never stops the others; its error goes to `onError`.
 */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Calls `listener` for every later value until the returned disposable is disposed. */
  readonly on = (listener: (value: T) => void): Disposable => {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  emit(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  get size(): number {
    return this.#listeners.size
  }
}

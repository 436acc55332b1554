/** The providers of this process by name, in the order in which a default is chosen. Filled in `main/`. */
import type { Provider } from './provider.ts'

export class ProviderRegistry {
  readonly #byName: ReadonlyMap<string, Provider>

  constructor(providers: readonly Provider[]) {
    this.#byName = new Map(providers.map((provider) => [provider.name, provider]))
  }

  /** May be undefined: the name came from a person. */
  get(name: string): Provider | undefined {
    return this.#byName.get(name)
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get all(): readonly Provider[] {
    return [...this.#byName.values()]
  }
}

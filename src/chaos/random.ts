/** Chance that can be played again: the same seed gives the same sequence on every machine. Pure but for its state. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Small seeds that differ by one must not give sequences that look alike.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  }

  /** At least 0, less than 1. Source: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.whole(0, items.length - 1)] ?? items[0]
  }

  shuffle<T>(items: readonly T[]): readonly T[] {
    const left = [...items]
    const shuffled: T[] = []
    while (left.length > 0) shuffled.push(...left.splice(this.whole(0, left.length - 1), 1))
    return shuffled
  }
}

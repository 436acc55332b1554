/**
 * The frames of a server-sent event stream, as text comes in. Pure but for its buffer. opencode sends only `data:`
 * lines; it numbers nothing and replays nothing, so a lost connection is a gap that the caller has to close itself.
 */

/** A longer frame is left out: nothing that we read comes near it. Units: characters. */
export const frameCharsMax = 16 * 1024 * 1024

export class EventStreamParser {
  #buffer = ''
  /** A carriage return at the end of what came: its newline may follow. */
  #carried = ''
  #isSkipping = false
  #skipped = 0

  /** Frames left out because they were too long. */
  get skipped(): number {
    return this.#skipped
  }

  /** The data of each frame that `text` completes, in order. */
  feed(text: string): readonly string[] {
    const all = this.#carried + text
    this.#carried = all.endsWith('\r') ? '\r' : ''
    this.#buffer += all.slice(0, all.length - this.#carried.length).replaceAll('\r\n', '\n')
    const frames = this.#buffer.split('\n\n')
    this.#buffer = frames.pop() ?? ''
    const whole = this.#isSkipping && frames.length > 0 ? frames.slice(1) : frames
    if (frames.length > 0) this.#isSkipping = false
    if (this.#buffer.length > frameCharsMax) this.#skipRest()
    return whole.flatMap((frame) => {
      const lines = frame.split('\n').filter((line) => line.startsWith('data:'))
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')]
    })
  }

  #skipRest(): void {
    if (!this.#isSkipping) this.#skipped++
    this.#isSkipping = true
    this.#buffer = ''
  }
}

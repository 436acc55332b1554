/**
 * Parser of tmux's control mode: bytes in, events out; no I/O, no time.
 *
 * A reply block ends only on the line with the identical three numbers, because the text of a
 * pane may look like a guard line. The result does not depend on how the bytes were split. Both a
 * line and a block have a limit; over it the parser reports `overflow` once and stays silent for
 * ever, since nothing after a lost guard can be trusted.
 * Source: tmux(1), CONTROL MODE.
 */
export type ControlBlock = {
  readonly kind: 'block'
  readonly number: number
  /** Bit 0 is set when this client's own stdin caused the block; attach and hooks have it clear. */
  readonly flags: number
  /** False when the block ended with %error. */
  readonly ok: boolean
  /** Without the newlines. */
  readonly lines: readonly Uint8Array[]
}
export type ControlNotification = {
  readonly kind: 'notification'
  /** Without the leading %, as `session-changed`. */
  readonly name: string
  /** What follows the name and one space. */
  readonly payload: Uint8Array
}
export type ControlEvent =
  | ControlBlock
  | ControlNotification
  | { readonly kind: 'exit'; readonly reason: string | undefined }
  | { readonly kind: 'stray'; readonly line: Uint8Array }
  | { readonly kind: 'overflow'; readonly what: 'line' | 'block'; readonly limitBytes: number }

export type ControlLimits = { readonly lineBytesMax: number; readonly blockBytesMax: number }

/** A full scrollback with attributes stays far below both. */
export const controlLimits: ControlLimits = { lineBytesMax: 16 * 1024 * 1024, blockBytesMax: 64 * 1024 * 1024 }

type OpenBlock = { number: number; flags: number; end: string; error: string; lines: Uint8Array[]; bytes: number }

const newline = 0x0a
const percent = 0x25
const latin1 = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8')
const beginPattern = /^%begin (\d{1,15} (\d{1,15}) (\d{1,9}))$/

export class ControlParser {
  readonly #limits: ControlLimits
  #partial: Uint8Array[] = []
  #partialBytes = 0
  #block: OpenBlock | undefined
  #isBroken = false

  constructor(limits: ControlLimits = controlLimits) {
    this.#limits = limits
  }

  /** Takes the next bytes and returns the events that they complete. Never throws. The bytes may be reused afterwards. */
  feed(bytes: Uint8Array): ControlEvent[] {
    const events: ControlEvent[] = []
    let start = 0
    while (!this.#isBroken && start < bytes.length) {
      const end = bytes.indexOf(newline, start)
      const part = bytes.subarray(start, end < 0 ? bytes.length : end)
      if (this.#partialBytes + part.length > this.#limits.lineBytesMax) {
        this.#break(events, 'line', this.#limits.lineBytesMax)
        break
      }
      if (end < 0) {
        this.#partial.push(new Uint8Array(part))
        this.#partialBytes += part.length
        break
      }
      this.#line(this.#complete(part), events)
      start = end + 1
    }
    return events
  }

  #complete(last: Uint8Array): Uint8Array {
    if (this.#partial.length === 0) return new Uint8Array(last)
    const line = new Uint8Array(this.#partialBytes + last.length)
    let offset = 0
    for (const part of this.#partial) {
      line.set(part, offset)
      offset += part.length
    }
    line.set(last, offset)
    this.#partial = []
    this.#partialBytes = 0
    return line
  }

  #break(events: ControlEvent[], what: 'line' | 'block', limitBytes: number): void {
    this.#isBroken = true
    this.#partial = []
    this.#block = undefined
    events.push({ kind: 'overflow', what, limitBytes })
  }

  #line(line: Uint8Array, events: ControlEvent[]): void {
    if (this.#block === undefined) this.#outside(line, events)
    else this.#inside(this.#block, line, events)
  }

  #inside(block: OpenBlock, line: Uint8Array, events: ControlEvent[]): void {
    if (line[0] === percent && line.length <= block.error.length) {
      const text = latin1.decode(line)
      if (text === block.end || text === block.error) {
        this.#block = undefined
        const { number, flags, lines } = block
        events.push({ kind: 'block', number, flags, ok: text === block.end, lines })
        return
      }
    }
    block.bytes += line.length + 1
    if (block.bytes > this.#limits.blockBytesMax) this.#break(events, 'block', this.#limits.blockBytesMax)
    else block.lines.push(line)
  }

  #outside(line: Uint8Array, events: ControlEvent[]): void {
    if (line[0] !== percent) {
      events.push({ kind: 'stray', line })
      return
    }
    const space = line.indexOf(0x20)
    const name = latin1.decode(line.subarray(1, space < 0 ? line.length : space))
    const payload = space < 0 ? new Uint8Array() : line.slice(space + 1)
    const begin = name === 'begin' ? beginPattern.exec(latin1.decode(line)) : null
    if (begin !== null) {
      const [, tag = '', number, flags] = begin
      this.#block = {
        number: Number(number),
        flags: Number(flags),
        end: `%end ${tag}`,
        error: `%error ${tag}`,
        lines: [],
        bytes: 0,
      }
    } else if (name === 'exit') {
      events.push({ kind: 'exit', reason: payload.length === 0 ? undefined : utf8.decode(payload) })
    } else {
      events.push({ kind: 'notification', name, payload })
    }
  }
}

/** Reads server-sent events: bytes in, frames out. Pure but for its own buffer. Source: HTML standard, 9.2.6. */
export type SseFrame = { readonly id: string | undefined; readonly event: string; readonly data: string }

/** A longer frame is a fault of the sender. Units: UTF-16 code units. */
export const frameLengthMax = 16 * 1024 * 1024

export class SseParser {
  #rest = ''
  readonly #decoder = new TextDecoder()

  /** Frames that `bytes` complete. Comments and unknown fields are dropped. Errors: Error when a frame grows past its limit. */
  push(bytes: Uint8Array): readonly SseFrame[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    // A carriage return at the end may be half of a line end.
    const whole = this.#rest.endsWith('\r') ? this.#rest.slice(0, -1) : this.#rest
    const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/)
    const rest = blocks.pop() ?? ''
    this.#rest = rest + this.#rest.slice(whole.length)
    if (this.#rest.length > frameLengthMax) throw new Error(`an event stream frame passed ${frameLengthMax} characters`)
    return blocks.flatMap((block) => parseFrame(block) ?? [])
  }
}

function parseFrame(block: string): SseFrame | undefined {
  let id: string | undefined
  let event = 'message'
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') }
}

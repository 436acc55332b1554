/**
 * Reads from the output log whether the program has bracketed paste on (DECSET 2004), since tmux tells it
 * only from 3.7 on. Works on any split of the bytes. Source: xterm control sequences, "Bracketed Paste Mode".
 */
const pattern = /\u001b\[\?(?:\d+;)*2004(?:;\d+)*([hl])|\u001bc/g
/** Longest prefix of a sequence that may be cut by a chunk's end, bytes. */
const carryMax = 32

export class ModeScanner {
  #carry = ''
  #isBracketed: boolean

  constructor(isBracketed = false) {
    this.#isBracketed = isBracketed
  }

  get isBracketed(): boolean {
    return this.#isBracketed
  }

  feed(bytes: Uint8Array): void {
    const text = this.#carry + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    for (const match of text.matchAll(pattern)) this.#isBracketed = match[1] === 'h'
    const escape = text.lastIndexOf('\u001b')
    this.#carry = escape >= 0 && text.length - escape < carryMax ? text.slice(escape) : ''
  }
}

/** Finds the last word on bracketed paste in a log, reading backwards by blocks; false when it was never set. */
export async function findBracketed(
  read: (offset: number, lengthMax: number) => Promise<Uint8Array>,
  length: number,
): Promise<boolean> {
  const blockBytes = 1024 * 1024
  for (let end = length; end > 0; end -= blockBytes) {
    const start = Math.max(0, end - blockBytes)
    const block = await read(start, end - start + carryMax)
    const text = Buffer.from(block).toString('latin1')
    const last = [...text.matchAll(pattern)].at(-1)
    if (last !== undefined) return last[1] === 'h'
  }
  return false
}

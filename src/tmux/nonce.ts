/** Names that no other caller uses: for the window that is being created, for paste buffers. */
import { randomBytes } from 'node:crypto'

const processTag = randomBytes(5).toString('hex')
let counter = 0

/** Letters and digits, never the same twice, also not in another process. */
export function makeNonce(): string {
  counter++
  return `n${processTag}x${counter.toString(36)}`
}

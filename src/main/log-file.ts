/**
 * The server's log, bounded: when it is full, its text moves to `server.log.1`, whose text is then given up. The file itself stays
 * the same, since a server that a command started writes its last words into it through its stderr.
 */
import { appendFileSync, chmodSync, copyFileSync, statSync, truncateSync } from 'node:fs'

/** Units: bytes; lines are short, so that it is looked at once in so many. */
const looksEvery = 64

/** What to hand each line to. Errors: the file system's, from each call. Units: bytes. */
export function createLogFile(path: string, bytesMax: number): (line: string) => void {
  let lines = 0
  return (line) => {
    if (lines++ % looksEvery === 0) moveWhenFull(path, bytesMax)
    appendFileSync(path, `${line}\n`, { mode: 0o600 })
  }
}

function moveWhenFull(path: string, bytesMax: number): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size < bytesMax) return
  copyFileSync(path, `${path}.1`)
  chmodSync(`${path}.1`, 0o600)
  truncateSync(path)
}

/**
 * One of several processes that race for the same rows. Arguments: the path of the file. Waits for the fact `go`, then
 * tries to lease every queued message and prints the ids that it got, one a line.
 */
import { writeSync } from 'node:fs'
import { openStore } from './open.ts'

/** So that no process of a test that broke off spins for ever. */
const goLimitMs = 20_000

using store = openStore({ path: process.argv.at(-1) ?? '' })
const queued = store.messages.listByState(['queued'])
writeSync(1, 'ready\n')
while (store.getFact('go') === undefined) if (performance.now() > goLimitMs) process.exit(1)
for (const { id } of queued) {
  if (store.messages.step(id, 'lease', { atMs: 1, countAttempt: true }).kind === 'moved') writeSync(1, `${id}\n`)
}

/** The program that the conformance suite kills in the middle of its writes. Its last argument is the path of the file. */
import { writeSync } from 'node:fs'
import type { SessionName } from '../../domain/ids.ts'
import { openStore } from './open.ts'

const store = openStore({ path: process.argv.at(-1) ?? '' })
for (let n = Number(store.getFact('written') ?? 0) + 1; ; n++) {
  store.transaction(() => {
    store.events.append({ type: 'session.created', sessionName: `cao-${n}` as SessionName }, n)
    store.setFact('written', String(n))
  })
  writeSync(1, `${n}\n`)
}

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { MessageToken, TerminalId } from '../../domain/ids.ts'
import { newTerminal } from '../rows.case.ts'
import { openStore } from './open.ts'

const racer = fileURLToPath(new URL('./racer.case.ts', import.meta.url))
const receiverId = 'aaaaaaaa' as TerminalId

/** Starts one process; `ready` once it has read the queue, `won` when it has ended. */
function startRacer(path: string): { readonly ready: Promise<void>; readonly won: Promise<readonly number[]> } {
  const child = spawn(process.execPath, [racer, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const ready = Promise.withResolvers<void>()
  const read = async (): Promise<readonly number[]> => {
    const ids: number[] = []
    for await (const line of lines) {
      if (line === 'ready') ready.resolve()
      else ids.push(Number(line))
    }
    return ids
  }
  return { ready: ready.promise, won: read() }
}

/** On a loaded machine one process may be done before the others wake: such a round shows nothing and is run again. */
const roundsMax = 10

test('of processes that lease the same messages at the same time, each message goes to exactly one', async () => {
  let winners = 0
  for (let round = 0; round < roundsMax && winners < 2; round++) winners = await race()
  expect(winners).toBeGreaterThan(1)
})

/** One round; returns how many processes won at least one message. */
async function race(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cao-race-'))
  const path = join(folder, 'cao.db')
  try {
    using store = openStore({ path })
    store.terminals.insert(newTerminal(receiverId))
    const ids = store.transaction(() =>
      Array.from({ length: 500 }, (_, i) => {
        const token = i.toString(16).padStart(12, '0') as MessageToken
        const message = {
          token,
          kind: 'input',
          senderId: 'user',
          receiverId,
          jobId: undefined,
          body: '',
          createdAtMs: 1,
        } as const
        return store.messages.insert(message).id
      }),
    )
    const racers = [startRacer(path), startRacer(path), startRacer(path)]
    await Promise.all(racers.map((each) => each.ready))
    store.setFact('go', '1')
    const won = await Promise.all(racers.map((each) => each.won))
    expect(won.flat().toSorted((x, y) => x - y)).toEqual(ids)
    const rows = store.messages.listByState(['leased'])
    expect([rows.length, rows.every((row) => row.attempts === 1)]).toEqual([ids.length, true])
    return won.filter((each) => each.length > 0).length
  } finally {
    rmSync(folder, { recursive: true })
  }
}

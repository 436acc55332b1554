import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { makeNonce } from './nonce.ts'
import { type PrivateServer, startPrivateServer } from './private-server.case.ts'
import { replyText } from './runner.ts'
import { deleteStrayBuffers, strayAfterS } from './stray-buffers.ts'

let tmux: PrivateServer
beforeAll(async () => {
  tmux = await startPrivateServer()
})
afterAll(async () => {
  await tmux[Symbol.asyncDispose]()
})

test('our buffers that were left go when they are old, and nobody else loses one', async () => {
  const ours = `cao-${makeNonce()}`
  for (const name of [ours, 'cao-notes', 'mine']) await tmux.connection.run(`set-buffer -b ${name} text`)
  const list = async () => {
    const outcome = await tmux.connection.run("list-buffers -F '#{buffer_name}'")
    return outcome.kind === 'replied' ? replyText(outcome.replies[0]).split('\n').toSorted() : []
  }
  expect(await deleteStrayBuffers(tmux.connection, systemClock.nowMs())).toBe(0)
  expect(await list()).toEqual([ours, 'cao-notes', 'mine'].toSorted())
  expect(await deleteStrayBuffers(tmux.connection, systemClock.nowMs() + (strayAfterS + 2) * 1000)).toBe(1)
  expect(await list()).toEqual(['cao-notes', 'mine'])
})

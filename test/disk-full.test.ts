/**
 * A server whose disk is full, made so on Linux without root: its limit for the size of files is one byte for a while, so that
 * no write to a file succeeds. It refuses what it can not keep, goes on, and makes good afterwards.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import { TestWorld, until } from './world.case.ts'

const setFileLimit = (pid: number, size: string) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:`], { encoding: 'utf8' })

test('on a full disk messages are refused, the server lives, and a turn that ended meanwhile is seen when there is room again', async () => {
  await using world = await TestWorld.open()
  const client = await world.startServer()
  const pid = world.server?.pid ?? 0
  const id = await world.agent()
  const before = await client.sendMessage(id, { message: 'wait 1000\nreply done' })
  await until('the turn to run', 10_000, async () =>
    (await client.getMessage(before.message_id)).state === 'turn_started' ? true : undefined,
  )
  setFileLimit(pid, '1')
  for (let times = 0; times < 5; times++) {
    await expect(client.sendMessage(id, { message: 'lost?' })).rejects.toMatchObject({ code: 'STORAGE_FULL' })
    await sleep(systemClock, 400)
  }
  expect(world.server?.exitCode).toBeNull()
  setFileLimit(pid, 'unlimited')
  const after = await client.sendMessage(id, { message: 'reply again' })
  for (const { message_id } of [before, after]) {
    await until(`message ${message_id} to be answered`, 20_000, async () =>
      (await client.getMessage(message_id)).state === 'answered' ? true : undefined,
    )
  }
  expect(world.accepted(id).map((text) => text.split('\n').slice(1).join('\n'))).toEqual([
    'wait 1000\nreply done',
    'reply again',
  ])
}, 60_000)

test('a message that its agent took while the disk was full is proven by what the agent told then', async () => {
  await using world = await TestWorld.open()
  const client = await world.startServer()
  const pid = world.server?.pid ?? 0
  const id = await world.agent()
  const agentPid = Number(readFileSync(join(world.world.layout.terminalsDir, id, 'pid'), 'utf8'))
  process.kill(agentPid, 'SIGSTOP')
  const sent = await client.sendMessage(id, { message: 'reply done' })
  await until('the text to be typed', 10_000, async () =>
    (await client.getMessage(sent.message_id)).state === 'typed' ? true : undefined,
  )
  setFileLimit(pid, '1')
  process.kill(agentPid, 'SIGCONT')
  await until('the agent to have answered', 10_000, () =>
    world.transcript(id).some((line) => line['type'] === 'assistant') ? true : undefined,
  )
  await sleep(systemClock, 1_000)
  setFileLimit(pid, 'unlimited')
  await until('the proof', 5_000, async () =>
    (await client.getMessage(sent.message_id)).state === 'answered' ? true : undefined,
  )
  expect(world.accepted(id)).toHaveLength(1)
}, 60_000)

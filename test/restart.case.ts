/** What the tests of restarts share: the server away for a while, panes by terminal, and counting in the agents' own records. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import type { JobBody } from '../src/protocol/job.ts'
import { type TestWorld, until } from './world.case.ts'

export const pause = (ms: number): Promise<void> => sleep(systemClock, ms)

/** Kills the server as a crash would, lets `meanwhile` happen, and starts it again. */
export async function crashServer(world: TestWorld, meanwhile: () => Promise<void> = async () => undefined) {
  await world.endServer('SIGKILL')
  await meanwhile()
  await world.startServer()
}

export function paneOf(world: TestWorld, id: string): string {
  const lines = world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id} #{pane_id}').split('\n')
  const found = lines.find((line) => line.startsWith(`${id} `))
  if (found === undefined) throw new Error(`no pane of ${id}`)
  return found.slice(id.length + 1)
}

/** How often the agent took a text that holds `words`. */
export function timesTaken(world: TestWorld, id: string, words: string): number {
  return world.accepted(id).filter((text) => text.includes(words)).length
}

/** Waits until the agent's own record has a line of this type that holds `words`. */
export function recorded(world: TestWorld, id: string, type: string, words = ''): Promise<unknown> {
  return until(`${id} to record ${type} ${words}`, 30_000, () =>
    world.transcript(id).find((line) => line['type'] === type && String(line['text']).includes(words)),
  )
}

export async function send(world: TestWorld, id: string, message: string, senderId = 'user'): Promise<number> {
  const sent = await world.client.sendMessage(id, { message, sender_id: senderId })
  return sent.message_id
}

export function messageState(world: TestWorld, id: number, state: string, limitMs = 30_000): Promise<unknown> {
  return until(`message ${id} to be ${state}`, limitMs, async () => {
    const message = await world.client.getMessage(id)
    return message.state === state ? message : undefined
  })
}

export function endedJob(world: TestWorld, id: string): Promise<JobBody> {
  return until(`the end of ${id}`, 60_000, async () => {
    const job = await world.client.getJob(id)
    return job.is_open ? undefined : job
  })
}

/** Gives a running agent a task as a job. */
export function giveTask(
  world: TestWorld,
  id: string,
  message: string,
  options: { readonly callerId?: string; readonly kind?: 'assign' | 'handoff' } = {},
): Promise<JobBody> {
  return world.client.startJob({
    kind: options.kind ?? 'assign',
    agent_profile: 'developer',
    provider: 'scripted',
    message,
    reuse_terminal_id: id,
    ...(options.callerId === undefined ? {} : { caller_id: options.callerId }),
  })
}

/** What is read through the server is the log, without a gap. */
export async function expectWholeOutput(world: TestWorld, id: string): Promise<void> {
  const log = readFileSync(join(world.world.layout.terminalsDir, id, 'output.log'))
  let text = ''
  for (let offset = 0; offset < log.length; ) {
    const range = await world.client.readOutputRange(id, { offset, length: log.length - offset })
    expect(range.offset, `output of ${id}`).toBe(offset)
    if (range.length === 0) break
    text += range.output
    offset = range.next_offset
  }
  expect(text, `output of ${id}`).toBe(log.toString('utf8'))
}

/** `cao jobs` as a person types it, on the whole real CAO. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JobBody, JobLineBody } from '../src/protocol/job.ts'
import { endedJob } from './restart.case.ts'
import { TestWorld } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const cao = (...args: readonly string[]) => world.run('cao', ['jobs', ...args])
const start = (message: string) =>
  world.client.startJob({
    kind: 'handoff',
    agent_profile: 'developer',
    provider: 'scripted',
    message,
    working_directory: world.world.projectDir,
  })

test('jobs are listed, shown, waited for, called off and tried anew', { timeout: 60_000 }, async () => {
  expect(await cao()).toMatchObject({ code: 0, out: 'no jobs\n' })
  const done = await start('wait 500\nreply the answer')
  const waited = await cao('wait', done.id)
  expect(waited).toMatchObject({ code: 0, out: 'the answer\n' })
  const asking = await start('ask Which? | a | b')
  await world.waitForStatus(asking.terminal_id ?? '', 'waiting_user_answer')
  const list = await cao()
  expect(list.out).toMatch(/^JOB +AGE +KIND +STATE +ENDING +PROFILE +WORKER +FOR +TASK\n/)
  expect(list.out).toMatch(
    new RegExp(`${asking.id} +\\d+s +handoff +running, question +- +developer +${asking.terminal_id}`),
  )
  expect(list.out).toMatch(new RegExp(`${done.id} .* answered +turn_ended `))
  const listed = JSON.parse((await cao('list', '--state', 'open', '--json')).out) as JobLineBody[]
  expect(listed.map(({ id }) => id)).toEqual([asking.id])
  expect((await cao('show', asking.id)).out).toContain('question: Which?')
  expect(await cao('wait', asking.id, '--timeout', '0.3')).toMatchObject({ code: 12 })
  expect(await cao('cancel', asking.id)).toMatchObject({ code: 0, out: `${asking.id} is cancelled\n` })
  expect(await cao('cancel', asking.id)).toMatchObject({ code: 0, out: `${asking.id} is cancelled\n` })
  const failed = await start('crash 3')
  await endedJob(world, failed.id)
  expect(await cao('wait', failed.id)).toMatchObject({
    code: 11,
    err: expect.stringContaining('exited with code 3') as unknown,
  })
  const again = JSON.parse((await cao('retry', failed.id, '--json')).out) as JobBody
  expect(again).toMatchObject({ retry_of: failed.id, message: 'crash 3' })
  expect((await cao('retry', failed.id)).out).toContain(`${again.id} tries it anew`)
  expect((await cao('retry', done.id)).code).toBe(9)
  expect(await cao('show', 'job-7')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is no id of a job') as unknown,
  })
  expect((await cao('forget')).code).toBe(2)
})

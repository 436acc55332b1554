/**
 * Fifty agents in every state, kill -9 of the server, five seconds of output, hook events and ends of turns, and a new
 * server: every status is true, every waiting message is taken once, every job has the exact answer, and nothing printed
 * meanwhile is missing.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  crashServer,
  endedJob,
  expectWholeOutput,
  giveTask,
  paneOf,
  pause,
  recorded,
  send,
  timesTaken,
} from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

const roles = [
  'idle',
  'streaming',
  'permission',
  'question',
  'ending',
  'exited',
  'leaving',
  'split',
  'copy',
  'draft',
] as const
type Role = (typeof roles)[number]
const agentsOfEach = 5
const startsAtOnce = 5

/** What a role is told before the crash, and what it is by then and after the restart. */
const told: Readonly<Partial<Record<Role, string>>> = {
  streaming: 'slow 600',
  permission: 'tool echo allowed',
  question: 'ask Which colour? | Red | Blue',
  ending: 'slow 2.5\nreply the answer',
  exited: 'crash 3',
  leaving: 'wait 2500\ncrash 7',
}
const busy = 'processing'
const before: Readonly<Record<Role, string>> = {
  idle: 'idle',
  streaming: busy,
  permission: 'waiting_user_answer',
  question: 'waiting_user_answer',
  ending: busy,
  exited: 'error',
  leaving: busy,
  split: 'idle',
  copy: 'idle',
  draft: 'idle',
}
/** `idle`, `split`, `copy` and `ending` have answered the message that waited for them by then. */
const after: Readonly<Record<Role, string>> = {
  ...before,
  idle: 'completed',
  ending: 'completed',
  leaving: 'error',
  split: 'completed',
  copy: 'completed',
}

let world: TestWorld
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose](), 60_000)

type Agent = { readonly role: Role; readonly id: string }

async function startAgents(): Promise<readonly Agent[]> {
  const wanted = roles.flatMap((role) => Array.from({ length: agentsOfEach }, () => role))
  const agents: Agent[] = []
  const startSome = async () => {
    for (let role = wanted.pop(); role !== undefined; role = wanted.pop())
      agents.push({ role, id: await world.agent() })
  }
  await Promise.all(Array.from({ length: startsAtOnce }, startSome))
  return agents
}

/** Waits until every agent has the status that `expected` says. */
async function awaitStatuses(agents: readonly Agent[], expected: Readonly<Record<Role, string>>): Promise<void> {
  let wrong: readonly string[] = ['nobody was asked']
  await until('all statuses', 60_000, async () => {
    const known = new Map((await world.client.listTerminals()).map((terminal) => [terminal.id, terminal.status]))
    wrong = agents
      .filter(({ role, id }) => known.get(id) !== expected[role])
      .map(({ role, id }) => `${role} ${id} is ${known.get(id)}`)
    return wrong.length === 0 ? true : undefined
  }).catch(() => undefined)
  expect(wrong).toEqual([])
}

test('fifty agents in every state outlive a kill -9 with true statuses, each message once and no gap', async () => {
  const agents = await startAgents()
  const of = (role: Role) => agents.filter((agent) => agent.role === role).map(({ id }) => id)
  const jobs = new Map<string, string>()
  for (const { role, id } of agents) {
    const task = told[role]
    if (task === undefined) continue
    if (role !== 'ending' && role !== 'leaving') await send(world, id, task)
  }
  await awaitStatuses(
    agents.filter(({ role }) => role !== 'ending' && role !== 'leaving'),
    before,
  )
  for (const id of of('split')) world.tmux('split-window', '-d', '-t', paneOf(world, id), 'sleep 300')
  for (const id of of('copy')) world.tmux('copy-mode', '-t', paneOf(world, id))
  for (const id of of('draft')) world.tmux('send-keys', '-t', paneOf(world, id), '-l', 'half a thought')
  const questions = new Map((await world.client.listQuestions()).map(({ terminal_id, id }) => [terminal_id, id]))
  expect(questions.size).toBe(2 * agentsOfEach)
  for (const role of ['ending', 'leaving'] as const) {
    for (const id of of(role)) jobs.set(id, (await giveTask(world, id, told[role] ?? '')).id)
  }
  await Promise.all([...of('ending'), ...of('leaving')].map((id) => world.waitForStatus(id, busy)))
  // The server is ended in the same moment in which the messages are accepted: whatever was begun is settled later.
  const receivers = agents.filter(({ role }) => role !== 'exited' && role !== 'leaving')
  await Promise.all(receivers.map(({ id }) => send(world, id, `reply got-${id}`)))
  await crashServer(world, async () => {
    await Promise.all(of('ending').map((id) => recorded(world, id, 'assistant', 'the answer')))
    await pause(2_500)
  })

  await awaitStatuses(agents, after)
  for (const { role, id } of agents) {
    const isHeld = before[role] !== 'idle' && role !== 'ending'
    expect(timesTaken(world, id, 'got-'), role).toBe(isHeld || role === 'draft' ? 0 : 1)
  }
  for (const id of of('ending')) {
    const job = await endedJob(world, jobs.get(id) ?? '')
    expect(job).toMatchObject({ state: 'answered', failure: null })
    expect(job.output).toMatch(/the answer$/)
  }
  for (const id of of('leaving')) {
    expect(await world.client.getTerminal(id)).toMatchObject({ life: 'exited', exit_code: 7 })
    expect((await endedJob(world, jobs.get(id) ?? '')).failure).toContain(
      'exited with code 7 in the middle of the task',
    )
  }
  for (const [terminalId, id] of questions) {
    expect(await world.client.listQuestions(terminalId)).toMatchObject([{ id }])
  }
  for (const id of [...of('idle'), ...of('ending'), ...of('permission')]) await expectWholeOutput(world, id)
  for (const id of of('draft')) world.tmux('send-keys', '-t', paneOf(world, id), 'C-u')
  for (const id of of('streaming')) await world.client.pressKey(id, 'Escape')
  for (const id of of('permission')) await world.client.answerQuestion(id, { answer: 'Yes' })
  for (const id of of('question')) await world.client.answerQuestion(id, { answer: 'Red' })
  await until('every message to be taken', 60_000, () =>
    receivers.every(({ id }) => timesTaken(world, id, 'got-') > 0) ? true : undefined,
  )
  for (const { id } of receivers) expect(timesTaken(world, id, 'got-')).toBe(1)
}, 240_000)

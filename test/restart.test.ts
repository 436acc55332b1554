/**
 * The second incident can not happen: the server dies by kill -9 while agents are in every state, they live on, and a new
 * server takes all of them up: true statuses, each waiting message delivered once (counted in the agents' own
 * records), exact answers, questions under the ids that were told, no gap in the output.
 */
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  crashServer,
  endedJob,
  expectWholeOutput,
  giveTask,
  messageState,
  paneOf,
  pause,
  recorded,
  send,
  timesTaken,
} from './restart.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

const statusOf = async (id: string) => (await world.client.getTerminal(id)).status
const areHooksRead = (id: string) => {
  const dir = join(world.world.layout.terminalsDir, id, 'spool')
  const told = readIfThere(join(dir, 'index'))
  return told.includes('TurnStarted') && readdirSync(dir).every((name) => name === 'index')
}
/** A hook event as the agent's shim leaves it, of a beginning whose end never comes. */
function tellOfBeginning(id: string): void {
  const session = world.transcript(id).find((line) => line['type'] === 'session')
  const turn = world.transcript(id).findLast((line) => line['type'] === 'user')
  const event = { event: 'TurnStarted', at: turn?.['at'], sessionId: session?.['sessionId'] }
  writeFileSync(join(world.world.layout.terminalsDir, id, 'spool', 'late.json'), JSON.stringify(event))
  appendFileSync(indexOf(id), 'late.json TurnStarted\n')
}
const indexOf = (id: string) => join(world.world.layout.terminalsDir, id, 'spool', 'index')

test('after kill -9 every agent has its true status, its questions under the same ids and its messages once', async () => {
  const names = ['idle', 'streaming', 'permission', 'question', 'exited', 'split', 'copy', 'draft', 'ending', 'leaving']
  const ids = await Promise.all(names.map(() => world.agent()))
  const [idle, streaming, permission, question, exited, split, copy, draft, ending, leaving] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  await send(world, streaming, 'slow 90')
  await send(world, permission, 'tool echo allowed')
  await send(world, question, 'ask Which colour? | Red | Blue')
  await send(world, exited, 'crash 3')
  await send(world, ending, 'slow 2\nreply finished alone')
  await send(world, leaving, 'wait 1500\ncrash 7')
  await Promise.all([
    world.waitForStatus(streaming, 'processing'),
    world.waitForStatus(permission, 'waiting_user_answer'),
    world.waitForStatus(question, 'waiting_user_answer'),
    world.waitForStatus(exited, 'error'),
    world.waitForStatus(ending, 'processing'),
    world.waitForStatus(leaving, 'processing'),
  ])
  world.tmux('split-window', '-d', '-t', paneOf(world, split), 'sleep 300')
  world.tmux('copy-mode', '-t', paneOf(world, copy))
  world.tmux('send-keys', '-t', paneOf(world, draft), '-l', 'half a thought')
  await until('the draft to be seen', 10_000, async () => {
    const { output } = await world.client.readOutput(draft, 'screen')
    return output.includes('half a thought') ? true : undefined
  })
  const queuedFor = [streaming, permission, question, draft, ending]
  const queued = new Map<string, number>()
  for (const id of queuedFor) queued.set(id, await send(world, id, `reply got-${id}`))
  const before = new Map<string, string | null>()
  for (const id of [permission, question]) before.set(id, (await world.client.getTerminal(id)).question_id)

  await crashServer(world, async () => {
    await recorded(world, ending, 'assistant', 'finished alone')
    await pause(2_500)
  })

  await world.waitForStatus(idle, 'idle')
  await world.waitForStatus(streaming, 'processing')
  await world.waitForStatus(permission, 'waiting_user_answer')
  await world.waitForStatus(question, 'waiting_user_answer')
  await world.waitForStatus(draft, 'idle')
  await until('the exit to be known', 15_000, async () =>
    (await world.client.getTerminal(leaving)).life === 'exited' ? true : undefined,
  )
  expect(await world.client.getTerminal(leaving)).toMatchObject({ status: 'error', exit_code: 7 })
  expect(await world.client.getTerminal(exited)).toMatchObject({ life: 'exited', status: 'error', exit_code: 3 })
  for (const [id, questionId] of before) {
    expect((await world.client.getTerminal(id)).question_id).toBe(questionId)
    expect(await world.client.listQuestions(id)).toMatchObject([{ id: questionId }])
  }
  // Those that rest take messages at once, also beside a split and under copy mode.
  for (const id of [idle, split, copy]) {
    await messageState(world, await send(world, id, `reply got-${id}`), 'answered')
    expect(timesTaken(world, id, `got-${id}`)).toBe(1)
  }
  await messageState(world, queued.get(ending) ?? 0, 'answered')
  // What held the others before holds them now, and gives way once.
  for (const id of [streaming, permission, question, draft]) expect(timesTaken(world, id, 'got-')).toBe(0)
  await world.client.pressKey(streaming, 'Escape')
  await world.client.answerQuestion(permission, { answer: 'Yes', question_id: before.get(permission) ?? '' })
  await world.client.answerQuestion(question, { answer: 'Blue', question_id: before.get(question) ?? '' })
  await world.client.pressKey(draft, 'C-u')
  for (const id of queuedFor) {
    await messageState(world, queued.get(id) ?? 0, 'answered')
    expect(timesTaken(world, id, `got-${id}`)).toBe(1)
  }
  for (const id of [idle, streaming, permission, ending, split]) await expectWholeOutput(world, id)
  expect(await statusOf(copy)).toBe('completed')
}, 120_000)

test('a turn that ended while no server ran gives its job the exact answer, whatever was there to tell of it', async () => {
  const supervisor = await world.agent({ profile: 'code_supervisor' })
  const ids = await Promise.all([world.agent(), world.agent(), world.agent(), world.agent()])
  const [hooked, silent, half, leaver] = ids
  const jobs = await Promise.all(
    ids.map((id) => giveTask(world, id, 'slow 1\nreply result «äöü» 漢字\\nline two', { callerId: supervisor })),
  )
  await Promise.all(ids.map((id) => world.waitForStatus(id, 'processing')))
  await until('all hooks to be read', 10_000, () => (ids.every(areHooksRead) ? true : undefined))
  await crashServer(world, async () => {
    const lengths = new Map(ids.map((id) => [id, readFileSync(indexOf(id)).length]))
    await Promise.all(ids.map((id) => recorded(world, id, 'assistant')))
    await pause(500)
    // As if the hooks had failed: of one agent nothing but the screen tells that the turn is over, of one a hook has told
    // of the beginning alone, and one has left.
    for (const id of [silent, half, leaver]) truncateSync(indexOf(id), lengths.get(id))
    tellOfBeginning(half)
    world.tmux('send-keys', '-t', paneOf(world, leaver), '/exit', 'Enter')
    await until('the agent to leave', 10_000, () =>
      world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id} #{pane_dead}').includes(`${leaver} 1`)
        ? true
        : undefined,
    )
  })
  const ended = await Promise.all(jobs.map((job) => endedJob(world, job.id)))
  for (const job of ended) {
    expect(job).toMatchObject({ state: 'answered', failure: null, output: ended[0]?.output })
    expect(job.output).toMatch(/result «äöü» 漢字\nline two$/)
  }
  expect(await world.client.getTerminal(leaver)).toMatchObject({ life: 'exited', exit_code: 0 })
  for (const id of [hooked, silent, half]) await world.waitForStatus(id, 'completed')
  await until('the results to reach the supervisor', 30_000, () =>
    timesTaken(world, supervisor, 'Result from developer') === ids.length ? true : undefined,
  )
}, 120_000)

test('a supervisor is told once, in short, what became of its team while no server ran', async () => {
  const supervisor = await world.agent({ profile: 'code_supervisor' })
  const [crashing, asking, leaving] = await Promise.all([world.agent(), world.agent(), world.agent()])
  const cut = await giveTask(world, crashing, 'say I am on it\nwait 1500\ncrash 9', { callerId: supervisor })
  const open = await giveTask(world, asking, 'wait 1500\nask Go on? | Yes | No', { callerId: supervisor })
  const plain = await send(world, leaving, 'wait 1500\ncrash 4', supervisor)
  await Promise.all([crashing, asking, leaving].map((id) => world.waitForStatus(id, 'processing')))
  await crashServer(world, () => pause(3_000))
  const ended = await endedJob(world, cut.id)
  expect(ended).toMatchObject({ state: 'failed', output: null })
  expect(ended.failure).toContain(`its worker ${crashing} exited with code 9 in the middle of the task`)
  expect((await world.client.getJob(open.id)).is_open).toBe(true)
  const digest = () => world.accepted(supervisor).filter((text) => text.includes('While the CAO server was away'))
  await until('the digest', 30_000, () => (digest().length > 0 ? true : undefined))
  expect(digest()[0]).toContain(`the task of developer ${crashing} has ended (failed): its worker`)
  expect(digest()[0]).toContain('[cao notice ')
  expect(digest()[0]).toMatch(new RegExp(`developer ${asking} asks \\(q-[0-9a-f]{8}\\): Go on\\?`))
  await crashServer(world)
  await world.waitForStatus(asking, 'waiting_user_answer')
  await pause(1_500)
  expect(digest()).toHaveLength(1)
  expect(timesTaken(world, supervisor, 'has failed: its worker')).toBe(1)
  // A message that was no task is answered for, too.
  const cutTurn = `Your message ${plain} reached ${leaving}, but its turn was cut: the agent ended (exit code 4)`
  await until('word of the cut turn', 20_000, () => (timesTaken(world, supervisor, cutTurn) > 0 ? true : undefined))
  expect(timesTaken(world, supervisor, 'its turn was cut')).toBe(1)
}, 120_000)

test('a handoff that waits over MCP gets its exact answer from the server after the next', async () => {
  const supervisor = await world.agent({ profile: 'code_supervisor' })
  const task = JSON.stringify({ agent_profile: 'developer', message: 'slow 3\nreply forty-two' })
  await send(world, supervisor, `call handoff ${task}\nreply heard: {output}`)
  const worker = await until('the worker at work', 20_000, async () => {
    const terminals = await world.client.listTerminals()
    return terminals.find(({ caller_id, status }) => caller_id === supervisor && status === 'processing')
  })
  await crashServer(world, () => pause(800))
  await crashServer(world, async () => {
    await recorded(world, worker.id, 'assistant')
    expect(timesTaken(world, worker.id, 'forty-two')).toBe(1)
    await pause(500)
  })
  await recorded(world, supervisor, 'assistant', 'heard:')
  const said = world.transcript(supervisor).findLast((line) => line['type'] === 'assistant')
  expect(said?.['text']).toContain('forty-two')
}, 90_000)

test('when tmux dies while no server runs, all are lost with the reason and their jobs fail with it', async () => {
  const supervisor = await world.agent({ profile: 'code_supervisor' })
  const [cut, done] = await Promise.all([world.agent(), world.agent()])
  const cutJob = await giveTask(world, cut, 'slow 60')
  const doneJob = await giveTask(world, done, 'slow 1\nreply saved')
  await send(world, cut, 'reply for later', supervisor)
  await Promise.all([cut, done].map((id) => world.waitForStatus(id, 'processing')))
  await crashServer(world, async () => {
    await recorded(world, done, 'assistant', 'saved')
    await pause(500)
    world.tmux('kill-server')
  })
  for (const id of [supervisor, cut, done]) {
    const terminal = await world.client.getTerminal(id)
    expect(terminal).toMatchObject({ life: 'lost', status: 'error', status_reason: 'lost' })
    expect(terminal.lost_reason).toContain('tmux server')
  }
  expect(await endedJob(world, cutJob.id)).toMatchObject({ state: 'failed' })
  expect((await endedJob(world, cutJob.id)).failure).toContain('in the middle of the task')
  const saved = await endedJob(world, doneJob.id)
  expect(saved).toMatchObject({ state: 'answered' })
  expect(saved.output).toContain('saved')
  const shown = await world.run('cao', ['server', 'status'])
  expect(shown.out).toMatch(/last recovery +0 agents adopted, 3 lost/)
  await messageState(world, await send(world, await world.agent(), 'reply alive'), 'answered')
}, 90_000)

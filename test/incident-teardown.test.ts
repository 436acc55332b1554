/** Incident 1: ending many agents at once takes no other with it, whoever asks, however often, and exactly theirs end. */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTeardownRounds } from '../bench/lib/teardown-rounds.ts'
import {
  agentPid,
  type Bystander,
  expectAllCounting,
  findByCommand,
  processStart,
  startBystanders,
  tmuxPid,
  untilEnded,
} from './incident.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

let world: TestWorld
let bystanders: readonly Bystander[] = []
let serverPid = 0
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
  bystanders = await startBystanders(world, 2)
  serverPid = tmuxPid(world)
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

test('ten sessions are ended, each by three callers, while ten others are created: no bystander stops, nothing fails', async () => {
  const sessions = 10
  const outcome = await runTeardownRounds({
    client: world.client,
    cwd: world.world.projectDir,
    rounds: 5,
    sessions,
    afterRound: () => expectAllCounting(bystanders),
  })
  expect(outcome).toEqual({ rounds: 5, created: 6 * sessions, deleted: 6 * sessions, failures: [] })
  expect(tmuxPid(world)).toBe(serverPid)
  expect((await world.client.listSessions()).map(({ name }) => name).sort()).toEqual(
    bystanders.map(({ session }) => session).sort(),
  )
  const panes = world
    .tmux('list-panes', '-a', '-F', '#{@cao_terminal_id}')
    .split('\n')
    .filter((id) => id !== '')
  expect(panes.sort()).toEqual(bystanders.map(({ id }) => id).sort())
  expect(world.tmux('list-buffers')).toBe('')
}, 150_000)

test('what an agent started ends with it: children, those in sessions of their own, those that ignore HUP and TERM; a shared daemon does not', async () => {
  const { client } = world
  const agent = await world.agent()
  const marks = [7771, 7772, 7773, 7774].map((seconds) => `${seconds}${process.pid}`)
  const [child = '', setsid = '', deaf = '', daemon = ''] = marks
  const script = join(world.world.folder, 'spawn.sh')
  const lines = [
    `sleep ${child} &`,
    `setsid sleep ${setsid} &`,
    `sh -c 'trap "" HUP TERM; sleep ${deaf}' &`,
    // As a daemon does: a session of its own, no parent, nothing of its caller's environment.
    `( env -i setsid sleep ${daemon} & )`,
  ]
  writeFileSync(script, `${lines.join('\n')}\n`)
  await client.sendInput(agent, { message: `tool sh ${script} >/dev/null 2>&1` })
  await world.waitForStatus(agent, 'waiting_user_answer')
  await client.pressKey(agent, 'Enter')
  const pids = await until('all four to run', 10_000, () => {
    const found = marks.map((mark) => findByCommand(`sleep ${mark}`).at(-1))
    return found.every((pid) => pid !== undefined) ? found.map((pid) => pid ?? 0) : undefined
  })
  const mine = [agentPid(world, agent) ?? 0, ...pids.slice(0, 3)]
  const daemonPid = pids[3] ?? 0
  try {
    const other = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'] ?? '' } })
    await Promise.all([client.deleteTerminal(agent), client.deleteTerminal(agent)])
    for (const pid of mine) await untilEnded(pid, 5_000)
    expect(processStart(daemonPid)).toBeDefined()
    expect(processStart(other.pid ?? 0)).toBeDefined()
    other.kill('SIGKILL')
  } finally {
    for (const pid of pids) if (processStart(pid) !== undefined) process.kill(pid, 'SIGKILL')
  }
  await expectAllCounting(bystanders)
}, 60_000)

test('a deletion that is asked for again succeeds or says that it is gone, also when tmux has lost the pane or the server was just restarted', async () => {
  const { client } = world
  const [first, second, third] = [await world.agent(), await world.agent(), await world.agent()]
  const asked = await Promise.allSettled(Array.from({ length: 8 }, () => client.deleteTerminal(first)))
  for (const each of asked) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'NOT_FOUND' })
  expect(asked.some((each) => each.status === 'fulfilled')).toBe(true)
  await expect(client.deleteTerminal(first)).rejects.toMatchObject({ code: 'NOT_FOUND' })

  const { session_name } = await client.getTerminal(second)
  world.tmux('kill-session', '-t', `=${session_name}`)
  await client.deleteSession(session_name)
  await expect(client.deleteSession(session_name)).rejects.toMatchObject({ code: 'NOT_FOUND' })

  const pid = agentPid(world, third) ?? 0
  await world.endServer('SIGKILL')
  await world.startServer()
  await world.client.deleteTerminal(third)
  await untilEnded(pid)
  await expectAllCounting(bystanders)
}, 60_000)

test('the last screen and the exit code stay readable after an exit, until the terminal is deleted', async () => {
  const { client } = world
  const agent = await world.agent()
  await client.sendInput(agent, { message: 'say the last words\ncrash 7' })
  await until('the exit', 10_000, async () => ((await client.getTerminal(agent)).life === 'exited' ? true : undefined))
  expect(await client.getTerminal(agent)).toMatchObject({ status: 'error', status_reason: 'exited', exit_code: 7 })
  for (const mode of ['screen', 'full'] as const) {
    expect((await client.readOutput(agent, mode)).output).toContain('the last words')
  }
  await until('its pane to be gone', 10_000, () =>
    world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id}').includes(agent) ? undefined : true,
  )
  const dir = join(world.world.layout.terminalsDir, agent)
  expect(existsSync(dir)).toBe(true)
  await client.deleteTerminal(agent)
  expect(existsSync(dir)).toBe(false)
}, 60_000)

test('the bystanders wrote without a hole through all of it', async () => {
  for (const bystander of bystanders) await bystander.expectUnbroken()
  expect(tmuxPid(world)).toBe(serverPid)
  expect(readIfThere(world.world.layout.serverLog)).not.toContain('tmux server lost')
})

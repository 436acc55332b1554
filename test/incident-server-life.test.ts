/**
 * Incident 1 and its whole family: what ends a tmux server, makes it unreachable or wedges it (K1 to K18 of
 * docs/tmux-dangers.md), done to our system while agents that take no part count. None of them dies.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import {
  agentPid,
  type Bystander,
  controlClient,
  exitEmpty,
  expectAllCounting,
  findByCommand,
  lifeOf,
  logLength,
  Person,
  paneField,
  paneOf,
  parentOf,
  processStart,
  startBystanders,
  stateOf,
  tmuxPid,
  untilEnded,
} from './incident.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

/** What a user's own configuration can hold, and has held: each line was deadly to somebody. */
const deadlyConfiguration = [
  'set -s exit-empty on',
  'set -s exit-unattached on',
  'set -g destroy-unattached on',
  'setw -g window-size manual',
  'set -g base-index 1',
  'setw -g pane-base-index 1',
  'set -g renumber-windows on',
  'setw -g allow-rename on',
  'setw -g remain-on-exit off',
  'setw -g synchronize-panes on',
  'set -g history-limit 10',
  "set -g default-command 'cat'",
  "set-hook -g after-new-window 'kill-window'",
].join('\n')

const exitOf = (world: TestWorld, id: string) =>
  until(`the exit of ${id}`, 20_000, async () => {
    const terminal = await world.client.getTerminal(id)
    return terminal.life === 'exited' ? terminal : undefined
  })
const sinkOf = (log: string): number[] => {
  const shells = findByCommand(log)
  const cats = findByCommand('cat').filter((pid) => shells.includes(parentOf(pid)))
  expect(shells.length + cats.length).toBeGreaterThan(1)
  return [...shells, ...cats]
}
const descriptorsOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      return []
    }
  })

describe('while a person is attached and agents count', () => {
  let world: TestWorld
  let bystanders: readonly Bystander[] = []
  let person: Person
  let serverPid = 0
  beforeAll(async () => {
    world = await TestWorld.open({ MY_SECRET: 'never-in-tmux' })
    writeFileSync(join(world.world.env['HOME'] ?? '', '.tmux.conf'), deadlyConfiguration)
    await world.startServer()
    bystanders = await startBystanders(world, 3)
    person = new Person(world, bystanders[0]?.session ?? '', { cols: 80, rows: 24 })
    await person.sees('alpha')
    serverPid = tmuxPid(world)
  }, 60_000)
  afterAll(async () => {
    person[Symbol.dispose]()
    await world[Symbol.asyncDispose]()
  }, 60_000)
  const expectAllWell = async () => {
    await expectAllCounting(bystanders)
    expect(tmuxPid(world)).toBe(serverPid)
  }

  test("K11, K12, K15: nothing of the user's own tmux configuration reaches our server", async () => {
    expect(exitEmpty(world)).toBe('off')
    expect(world.tmux('show-options', '-sv', 'exit-unattached').trim()).toBe('off')
    expect(world.tmux('show-options', '-gv', 'destroy-unattached').trim()).toBe('off')
    expect(world.tmux('show-options', '-gwv', 'window-size').trim()).not.toBe('manual')
    await expectAllWell()
  })

  test('K15: a global "window-size manual" that a person sets ends nothing at the next creation', async () => {
    world.tmux('set-option', '-gw', 'window-size', 'manual')
    await world.agent({ session: 'manual' })
    await world.client.createTerminal('cao-manual', { agent_profile: 'developer', provider: 'scripted' })
    await expectAllWell()
    await world.client.deleteSession('cao-manual')
  })

  test('K2, K16: a paste into a dead pane, by us or by the attached person, ends nothing', async () => {
    const session = bystanders[0]?.session ?? ''
    const agent = await world.client.createTerminal(session, { agent_profile: 'developer', provider: 'scripted' })
    world.tmux('set-buffer', 'pasted')
    world.tmux('select-window', '-t', paneOf(world, agent.id))
    // Into a living one the same keys paste.
    person.press('C-b', ']')
    await person.sees('❯ pasted')
    person.press('C-b', '=')
    await person.sees('(0) ')
    person.press('Enter')
    await person.sees('❯ pastedpasted')
    // While no server of ours looks, the dead pane stays, and the person has it before them.
    await world.endServer('SIGKILL')
    process.kill(agentPid(world, agent.id) ?? 0, 'SIGKILL')
    await until('the pane to be dead', 10_000, () =>
      paneField(world, agent.id, '#{pane_dead}') === '1' ? true : undefined,
    )
    person.press('C-b', ']')
    person.press('C-b', '=')
    person.press('Enter')
    await expectAllCounting(bystanders)
    await world.startServer()
    const exited = await exitOf(world, agent.id)
    expect(exited).toMatchObject({ exit_code: 137, exit_signal: 'SIGKILL' })
    await expect(world.client.sendInput(agent.id, { message: 'x' })).rejects.toMatchObject({ code: 'BLOCKED' })
    // An agent that ends while a text is on its way to it.
    const racing = await Promise.all([world.agent(), world.agent(), world.agent()])
    for (const id of racing) {
      void world.client.sendMessage(id, { message: 'reply x', sender_id: 'user' })
      process.kill(agentPid(world, id) ?? 0, 'SIGKILL')
    }
    for (const id of racing) await exitOf(world, id)
    await expectAllWell()
  }, 60_000)

  test('K3: a person respawns a pane of burst output under our control client', async () => {
    const agent = await world.agent()
    const pane = paneOf(world, agent)
    await world.client.sendMessage(agent, { message: 'flood 2000', sender_id: 'user' })
    for (let round = 0; round < 6; round++) {
      world.tmux('respawn-pane', '-k', '-t', pane, 'seq 1 20000; sleep 60')
      await expectAllCounting(bystanders)
    }
    expect(world.tmux('list-clients', '-F', '#{client_control_mode} #{client_flags}')).toMatch(/^1 .*no-output/m)
    await world.client.deleteTerminal(agent)
    await expectAllWell()
  }, 60_000)

  test('K5, K6: an output sink that stands still costs its own agent some log and nobody else anything', async () => {
    const agent = await world.agent()
    const log = join(world.world.layout.terminalsDir, agent, 'output.log')
    const sink = sinkOf(log)
    for (const pid of sink) process.kill(pid, 'SIGSTOP')
    await world.client.sendMessage(agent, { message: 'flood 500\ncrash 5', sender_id: 'user' })
    expect(await exitOf(world, agent)).toMatchObject({ exit_code: 5 })
    for (const pid of sink) if (processStart(pid) !== undefined) process.kill(pid, 'SIGCONT')
    await expectAllWell()
    await world.client.deleteTerminal(agent)
  }, 60_000)

  test('K5: a sink that is killed is armed again', async () => {
    const agent = await world.agent()
    const log = join(world.world.layout.terminalsDir, agent, 'output.log')
    const sink = sinkOf(log)
    for (const pid of sink) process.kill(pid, 'SIGKILL')
    await world.client.sendMessage(agent, { message: 'slow 30', sender_id: 'user' })
    await until('the sink to run again', 20_000, () =>
      findByCommand(log).some((pid) => !sink.includes(pid)) ? true : undefined,
    )
    const before = logLength(world, agent)
    await until('the log to grow', 10_000, () => (logLength(world, agent) > before ? true : undefined))
    await expectAllWell()
    await world.client.deleteTerminal(agent)
  }, 60_000)

  test('K7: our control client stands still during a flood; then all goes on', async () => {
    const agent = await world.agent()
    const client = controlClient(world)
    process.kill(client, 'SIGSTOP')
    try {
      await world.client.sendMessage(agent, { message: 'reply after it', sender_id: 'user' })
      await expectAllWell()
      expect((await world.client.health()).status).toBe('ok')
    } finally {
      process.kill(client, 'SIGCONT')
    }
    await until('the text to be taken', 30_000, () => (world.accepted(agent).length > 0 ? true : undefined))
    expect(world.accepted(agent)).toHaveLength(1)
    expect(await lifeOf(world, agent)).toBe('live')
    await world.client.deleteTerminal(agent)
  }, 60_000)

  test('K8, K13: no client of ours receives pane output, so nothing is kept for it when windows move', async () => {
    const flags = world.tmux('list-clients', '-F', '#{client_control_mode} #{client_flags}').split('\n')
    const ours = flags.filter((line) => line.startsWith('1 '))
    expect(ours).toHaveLength(1)
    expect(ours[0]).toContain('no-output')
    await expectAllWell()
  })

  test('K9: exits are told with their codes though this tmux loses signals of its children', async () => {
    const agents = await Promise.all([1, 2, 3, 4].map(() => world.agent()))
    await Promise.all(
      agents.map((id, index) => world.client.sendMessage(id, { message: `crash ${index + 1}`, sender_id: 'user' })),
    )
    for (const [index, id] of agents.entries()) expect(await exitOf(world, id)).toMatchObject({ exit_code: index + 1 })
    // With the wrapper dead too nobody but tmux knows, which is asked until it says.
    const agent = await world.agent()
    process.kill(Number(paneField(world, agent, '#{pane_pid}')), 'SIGKILL')
    expect(await exitOf(world, agent)).toMatchObject({ status: 'error', status_reason: 'exited' })
    await untilEnded(agentPid(world, agent) ?? 0)
    await expectAllWell()
  }, 60_000)

  test('K10: a removed socket comes back, from the same server', async () => {
    const socket = join(world.world.layout.runDir, 'tmux.sock')
    rmSync(socket)
    await until('the socket to be back', 15_000, () => (existsSync(socket) ? true : undefined))
    await expectAllWell()
    // Removed while no server of ours runs: found again by its record, no second one is started.
    await world.endServer('SIGKILL')
    rmSync(socket)
    await world.startServer()
    await expectAllWell()
    for (const { id } of bystanders) expect(await lifeOf(world, id)).toBe('live')
  }, 60_000)

  test('K10: the whole run directory is removed, with us running and without', async () => {
    const { runDir } = world.world.layout
    rmSync(runDir, { recursive: true })
    await until('the socket to be back', 15_000, () => (existsSync(join(runDir, 'tmux.sock')) ? true : undefined))
    await expectAllWell()
    await world.endServer('SIGKILL')
    rmSync(runDir, { recursive: true })
    await world.startServer()
    await expectAllWell()
    for (const { id } of bystanders) expect(await lifeOf(world, id)).toBe('live')
  }, 60_000)

  test('K14: a name that begins another one is never taken for it', async () => {
    await world.agent({ session: 'job-12' })
    await world.agent({ session: 'job-1' })
    await world.client.deleteSession('cao-job-1')
    await expect(world.client.deleteSession('cao-job-1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(world.client.deleteSession('cao-job')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(world.tmux('has-session', '-t', '=cao-job-12')).toBe('')
    await world.client.deleteSession('cao-job-12')
    await expectAllWell()
  }, 60_000)

  test('the keeper session is removed by a person: commands go on and it comes back', async () => {
    world.tmux('kill-session', '-t', '=__cao_keeper')
    const agent = await world.agent()
    await world.client.sendInput(agent, { message: 'reply here' })
    expect(world.tmux('has-session', '-t', '=__cao_keeper')).toBe('')
    await world.client.deleteTerminal(agent)
    await expectAllWell()
  }, 60_000)

  test('an agent that runs `tmux kill-server` hits nothing of ours', async () => {
    const agent = await world.agent()
    await world.client.sendInput(agent, { message: 'tool tmux kill-server; tmux kill-session -a; echo "<$TMUX>"' })
    await world.waitForStatus(agent, 'waiting_user_answer')
    await world.client.pressKey(agent, 'Enter')
    await until('the command to have run', 10_000, () =>
      world.transcript(agent).some((line) => line['type'] === 'tool') ? true : undefined,
    )
    expect(String(world.transcript(agent).find((line) => line['type'] === 'tool')?.['text'])).toContain('<>')
    await expectAllWell()
    await world.client.deleteTerminal(agent)
  }, 60_000)

  test('the tmux server has nothing of ours: no descriptor, lock, port or secret; and our process group is not its', async () => {
    const fds = descriptorsOf(serverPid)
    const { folder } = world.world
    expect(fds.filter((path) => path.includes(folder) && !path.endsWith('tmux.sock'))).toEqual([])
    // The streams of our control client are handed to it by tmux itself; nothing else of us is there.
    const [ours, client] = [descriptorsOf(world.server?.pid ?? 0), descriptorsOf(controlClient(world))]
    const isShared = (path: string) => /^(socket|pipe):/.test(path) && ours.includes(path) && !client.includes(path)
    expect(fds.filter(isShared)).toEqual([])
    const environ = readFileSync(`/proc/${serverPid}/environ`, 'utf8')
    expect(environ).not.toMatch(/never-in-tmux|CAO_|NODE_/)
    const ids = execFileSync('ps', ['-o', 'pgid=,sid=,tty=', '-p', String(serverPid)], { encoding: 'utf8' })
    expect(ids.trim().split(/\s+/)).toEqual([String(serverPid), String(serverPid), '?'])
    await expectAllWell()
  })

  test('the whole process group of our server is killed, as by a terminal that closes: the agents do not notice', async () => {
    const groups = (pid: number) => execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    await world.endServer('SIGTERM')
    await world.startServer({ detached: true })
    const pid = world.server?.pid ?? 0
    expect(groups(pid)).toBe(String(pid))
    const before = { launched: await world.agent({ session: 'grouped' }) }
    process.kill(-pid, 'SIGKILL')
    await untilEnded(pid)
    await expectAllWell()
    await world.startServer()
    expect(await lifeOf(world, before.launched)).toBe('live')
    await world.client.deleteTerminal(before.launched)
  }, 60_000)

  test('a tmux server that stands still is not called dead: unknown, timeouts with a type, and all goes on', async () => {
    const agent = await world.agent()
    const from = (await world.client.listEvents({ limit: 1 })).last_seq
    process.kill(serverPid, 'SIGSTOP')
    const frozenAtMs = systemClock.monotonicMs()
    let messageId = 0
    try {
      await until('it to stand still', 5_000, () => (stateOf(serverPid) === 'T' ? true : undefined))
      const launched = expect(world.agent({ session: 'late' })).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' })
      messageId = (await world.client.sendMessage(agent, { message: 'reply thawed', sender_id: 'user' })).message_id
      await until('the status to be unknown', 25_000, async () =>
        (await world.client.getTerminal(agent)).status === 'unknown' ? true : undefined,
      )
      expect(await world.client.getTerminal(agent)).toMatchObject({ life: 'live', status_reason: 'backend_silent' })
      await expect(world.client.pressKey(agent, 'Escape')).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' })
      expect((await world.client.health()).status).toBe('ok')
      await launched
      // Longer than the 12 s after which a server that refuses everybody would be ended.
      await sleep(systemClock, Math.max(0, 15_000 - (systemClock.monotonicMs() - frozenAtMs)))
    } finally {
      process.kill(serverPid, 'SIGCONT')
    }
    await until('the text to be taken', 30_000, async () =>
      (await world.client.getMessage(messageId)).state === 'answered' ? true : undefined,
    )
    expect(world.accepted(agent)).toHaveLength(1)
    await expectAllWell()
    for (const { id } of bystanders) await world.waitForStatus(id, 'processing')
    // What tmux made of the launch that was given up is gone again.
    await until('the late session to be gone', 15_000, () =>
      world.tmux('list-sessions', '-F', '#{session_name}').includes('cao-late') ? undefined : true,
    )
    const { events } = await world.client.listEvents({ after: from, limit: 500 })
    expect(events.filter((event) => event.type === 'backend.lost')).toEqual([])
    await world.client.deleteTerminal(agent)
  }, 90_000)

  test('through all of it no bystander missed a word', async () => {
    for (const bystander of bystanders) await bystander.expectUnbroken()
    expect(tmuxPid(world)).toBe(serverPid)
    expect(readIfThere(world.world.layout.serverLog)).not.toContain('tmux server lost')
  }, 60_000)
})

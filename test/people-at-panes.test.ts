/** People do to tmux what they like: a terminal stays the same terminal, input goes to its agent or is held with the reason. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentPid, Person, paneField, paneOf, processStart, tmuxPid, untilEnded } from './incident.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
let serverPid = 0
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
  await world.agent({ session: 'keep' })
  serverPid = tmuxPid(world)
}, 60_000)
afterAll(async () => {
  expect(tmuxPid(world), 'the tmux server is the one it was').toBe(serverPid)
  await world[Symbol.asyncDispose]()
}, 60_000)

let words = 0
/** The agent takes a text of its own, once, and its status follows. */
async function expectReachable(id: string): Promise<void> {
  const message = `reply word ${++words}`
  const sent = await world.client.sendInput(id, { message }, { timeoutMs: 40_000 })
  expect(sent).toMatchObject({ success: true })
  expect(world.accepted(id).filter((text) => text === message)).toHaveLength(1)
  const answer = `word ${words}`
  await until(`${id} to say ${answer}`, 15_000, async () =>
    (await world.client.readOutput(id, 'last')).output === answer ? true : undefined,
  )
  await world.waitForStatus(id, 'completed')
}

/** Two agents in one session, each in a window of its own. */
async function pair(session: string): Promise<readonly [string, string]> {
  const first = await world.agent({ session })
  const second = await world.client.createTerminal(`cao-${session}`, {
    agent_profile: 'developer',
    provider: 'scripted',
  })
  return [first, second.id]
}

test('split, renamed, moved, broken, joined, swapped, linked, zoomed and resized windows: every text goes to the agent that it is for', async () => {
  const [first, second] = await pair('moves')
  const [a, b] = [paneOf(world, first), paneOf(world, second)]
  const elsewhere = paneOf(world, await world.agent({ session: 'elsewhere' }))
  const steps: readonly (readonly string[])[] = [
    ['split-window', '-t', a, 'sleep 3600'],
    ['rename-window', '-t', a, 'x; ##(touch y) =0'],
    ['rename-session', '-t', '=cao-moves', 'mine'],
    ['resize-pane', '-Z', '-t', a],
    ['resize-window', '-t', a, '-x', '70', '-y', '20'],
    ['swap-pane', '-d', '-s', a, '-t', b],
    ['join-pane', '-d', '-s', a, '-t', b],
    ['select-layout', '-t', b, 'even-horizontal'],
    ['break-pane', '-d', '-s', a],
    ['move-window', '-d', '-s', a, '-t', '=cao-elsewhere:'],
    ['link-window', '-d', '-s', b, '-t', '=cao-elsewhere:'],
    ['unlink-window', '-t', `=cao-elsewhere:`],
    ['swap-window', '-d', '-s', a, '-t', elsewhere],
  ]
  for (const [index, step] of steps.entries()) {
    try {
      world.tmux(...step)
    } catch (error) {
      // tmux refuses what makes no sense any more, as to unlink the last link.
      expect(String(error)).toContain('only linked to one session')
    }
    if (index % 3 === 2) for (const id of [first, second]) await expectReachable(id)
  }
  for (const id of [first, second]) await expectReachable(id)
  expect([paneOf(world, first), paneOf(world, second)]).toEqual([a, b])
  for (const id of [first, second]) {
    await world.client.deleteTerminal(id)
  }
  // The person's own pane is not ours to end.
  expect(world.tmux('list-panes', '-a', '-F', '#{pane_start_command}')).toContain('sleep 3600')
  world.tmux('kill-session', '-t', '=mine')
}, 120_000)

test('copy mode, choose-tree and clock mode: the status stays true, and a text is taken all the same', async () => {
  const agent = await world.agent({ session: 'modes' })
  const pane = paneOf(world, agent)
  using person = new Person(world, 'cao-modes', { cols: 120, rows: 40 })
  await person.sees('scripted')
  for (const mode of [['copy-mode'], ['choose-tree'], ['clock-mode']]) {
    world.tmux(...mode, '-t', pane)
    expect(paneField(world, agent, '#{pane_in_mode}')).toBe('1')
    const { status } = await world.client.getTerminal(agent)
    expect(['idle', 'completed']).toContain(status)
    await expectReachable(agent)
  }
}, 60_000)

test('with synchronize-panes on, our keys go to our agent alone', async () => {
  const [first, second] = await pair('sync')
  const [a, b] = [paneOf(world, first), paneOf(world, second)]
  world.tmux('join-pane', '-d', '-s', b, '-t', a)
  world.tmux('set-option', '-w', '-t', a, 'synchronize-panes', 'on')
  // A draft of a person stands in the other's composer: an Enter there would send it.
  world.tmux('set-option', '-p', '-t', b, 'synchronize-panes', 'off')
  world.tmux('send-keys', '-l', '-t', b, 'half a thought')
  const shown = () => world.tmux('capture-pane', '-p', '-t', b).includes('half a thought')
  await until('the draft to be shown', 10_000, () => (shown() ? true : undefined))
  world.tmux('set-option', '-pu', '-t', b, 'synchronize-panes')
  await expectReachable(first)
  expect(world.accepted(second)).toEqual([])
  expect(shown()).toBe(true)
  expect(world.tmux('show-options', '-wv', '-t', a, 'synchronize-panes').trim()).toBe('on')
}, 60_000)

test('a second client of 80x24 does not shrink the agent', async () => {
  const agent = await world.agent({ session: 'small' })
  using person = new Person(world, 'cao-small', { cols: 80, rows: 24 })
  await person.sees('scripted')
  await expectReachable(agent)
  expect(paneField(world, agent, '#{window_width}x#{window_height}')).toBe('200x50')
}, 60_000)

test('input that is switched off holds the text with the reason, and it goes out when input is on again', async () => {
  const agent = await world.agent({ session: 'deaf' })
  const pane = paneOf(world, agent)
  world.tmux('select-pane', '-d', '-t', pane)
  const { message_id } = await world.client.sendMessage(agent, { message: 'reply later', sender_id: 'user' })
  await until('the reason to be told', 10_000, async () => {
    const { facts } = await world.client.explain(agent)
    return JSON.stringify(facts).includes('switched off') ? true : undefined
  })
  expect(await world.client.getMessage(message_id)).toMatchObject({ state: 'queued' })
  await expect(world.client.pressKey(agent, 'Enter')).rejects.toMatchObject({ code: 'BLOCKED' })
  world.tmux('select-pane', '-e', '-t', pane)
  await until('the text to be taken', 15_000, () => (world.accepted(agent).length > 0 ? true : undefined))
  expect(world.accepted(agent)).toHaveLength(1)
}, 60_000)

test('a killed pane is an agent that ended, with its queue told; the others of its window live', async () => {
  const [first, second] = await pair('killed')
  const [a, b] = [paneOf(world, first), paneOf(world, second)]
  world.tmux('join-pane', '-d', '-s', b, '-t', a)
  const pid = agentPid(world, first) ?? 0
  world.tmux('kill-pane', '-t', a)
  await until('the end to be seen', 15_000, async () =>
    (await world.client.getTerminal(first)).life === 'exited' ? true : undefined,
  )
  await untilEnded(pid)
  await expect(world.client.sendInput(first, { message: 'reply no' })).rejects.toMatchObject({ code: 'BLOCKED' })
  await expectReachable(second)
}, 60_000)

test('a respawned pane is not the agent any more: nothing is typed into what runs there, and the status says so', async () => {
  const agent = await world.agent({ session: 'respawned' })
  const pane = paneOf(world, agent)
  const pid = agentPid(world, agent) ?? 0
  const { message_id } = await world.client.sendMessage(agent, { message: 'wait 2000\nreply x', sender_id: 'user' })
  world.tmux('respawn-pane', '-k', '-t', pane, 'cat >typed; sleep 3600')
  await untilEnded(pid)
  await world.client.sendMessage(agent, { message: 'touch never', sender_id: 'user' }).catch(() => undefined)
  await until('the end to be seen', 20_000, async () =>
    (await world.client.getTerminal(agent)).life === 'exited' ? true : undefined,
  )
  expect(await world.client.getTerminal(agent)).toMatchObject({ status: 'error', status_reason: 'exited' })
  expect((await world.client.getMessage(message_id)).state).toMatch(
    /^(answered|turn_started|confirmed|unconfirmed|queued|undeliverable)$/,
  )
  // What the person started there is the person's.
  expect(paneField(world, agent, '#{pane_dead} #{pane_current_command}')).toMatch(/^0 /)
  world.tmux('send-keys', '-t', pane, 'C-d')
  const { readFileSync } = await import('node:fs')
  const typed = await until('the file', 5_000, () => readFileSync(`${world.world.projectDir}/typed`, 'utf8'))
  expect(typed).toBe('')
  await world.client.deleteTerminal(agent)
}, 60_000)

test('an agent that ends by itself is told with its code, and what was sent to it is refused with the reason', async () => {
  const agent = await world.agent({ session: 'ends' })
  const pid = agentPid(world, agent) ?? 0
  await world.client.sendInput(agent, { message: 'crash 4' })
  await untilEnded(pid)
  await until('the end to be seen', 10_000, async () =>
    (await world.client.getTerminal(agent)).life === 'exited' ? true : undefined,
  )
  expect(processStart(pid)).toBeUndefined()
  await expect(world.client.sendInput(agent, { message: 'reply no' })).rejects.toMatchObject({
    code: 'BLOCKED',
    message: expect.stringContaining('exit code 4'),
  })
}, 60_000)

/** CAO_TMUX_SOCKET: on a tmux server of somebody else we are a guest; one that we start there is ours. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TestWorld, until } from './world.case.ts'

/** A person's own tmux server, with options that are deadly to guests who do not look. */
class PersonsServer implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'cao-guest-'))
  readonly socket = join(this.dir, 's')

  start(...options: readonly string[]): void {
    this.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'mine', 'sleep 3600')
    this.tmux('set-option', '-t', '=mine:', 'destroy-unattached', 'off')
    for (const option of options) this.tmux('set-option', ...option.split(' '))
  }

  tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-u', '-S', this.socket, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  get isRunning(): boolean {
    try {
      return this.tmux('display-message', '-p', '#{pid}') !== ''
    } catch {
      return false
    }
  }

  /** Everything global, as its user set it. */
  get settings(): string {
    const shown = ['-s', '-g', '-gw'].map((scope) => this.tmux('show-options', scope))
    return [...shown, this.tmux('list-keys'), this.tmux('show-environment', '-g')].join('\n')
  }

  [Symbol.dispose](): void {
    if (this.isRunning) this.tmux('kill-server')
    rmSync(this.dir, { recursive: true, force: true })
  }
}

const exited = (world: TestWorld, id: string) =>
  until(`the exit of ${id}`, 15_000, async () => {
    const terminal = await world.client.getTerminal(id)
    return terminal.life === 'exited' ? terminal : undefined
  })

test("on a person's server agents work, outlive ours, and go without a trace; what is not ours stays as it was", async () => {
  using theirs = new PersonsServer()
  theirs.start('-g destroy-unattached on', '-g base-index 1', '-gw remain-on-exit off', '-gw allow-rename on')
  const before = theirs.settings
  const world = await TestWorld.open({ CAO_TMUX_SOCKET: theirs.socket })
  try {
    await world.startServer()
    const agent = await world.agent({ session: 'guest' })
    await world.client.sendInput(agent, { message: 'reply at home' })
    const second = await world.client.createTerminal('cao-guest', { agent_profile: 'developer', provider: 'scripted' })
    expect((await world.client.health()).backend?.details['foreign']).toContain('never ended by it')
    expect(theirs.settings).toBe(before)

    await world.endServer('SIGKILL')
    await world.startServer()
    await world.client.sendInput(agent, { message: 'reply again' })
    expect(world.accepted(agent)).toEqual(['reply at home', 'reply again'])
    await world.client.sendMessage(second.id, { message: 'crash 6', sender_id: 'user' })
    expect(await exited(world, second.id)).toMatchObject({ exit_code: 6 })

    // A keeper that the person took away comes back, and nobody is lost by it.
    theirs.tmux('kill-session', '-t', '=__cao_keeper')
    await world.client.sendInput(agent, { message: 'reply still' })
    expect((await world.client.getTerminal(agent)).life).toBe('live')

    expect(await world.client.shutdownAll()).toMatchObject({ errors: [] })
    expect(theirs.tmux('list-sessions', '-F', '#{session_name}')).toBe('mine')
    expect(theirs.settings).toBe(before)
    expect(theirs.tmux('list-buffers')).toBe('')
  } finally {
    await world[Symbol.asyncDispose]()
  }
  expect(theirs.isRunning).toBe(true)
}, 90_000)

test('where the next window would end that server, a launch is refused with the cure', async () => {
  using theirs = new PersonsServer()
  theirs.start()
  await using world = await TestWorld.open({ CAO_TMUX_SOCKET: theirs.socket })
  await world.startServer()
  const agent = await world.agent()
  theirs.tmux('set-option', '-gw', 'window-size', 'manual')
  await expect(world.agent()).rejects.toMatchObject({
    code: 'LAUNCH_FAILED',
    message: expect.stringContaining('"window-size manual"'),
  })
  expect((await world.client.getTerminal(agent)).life).toBe('live')
  theirs.tmux('set-option', '-gwu', 'window-size')
  await world.agent()
}, 60_000)

test('a server that ends when nobody is attached is refused before anything is made there', async () => {
  using theirs = new PersonsServer()
  // exit-empty off keeps it: tmux looks at that first.
  theirs.start('-s exit-empty off', '-s exit-unattached on')
  const world = await TestWorld.open({ CAO_TMUX_SOCKET: theirs.socket })
  const ran = await world.run('cao-server', [])
  expect(ran.code).not.toBe(0)
  expect(ran.err).toContain('"exit-unattached on"')
  expect(theirs.tmux('list-sessions', '-F', '#{session_name}')).toBe('mine')
  rmSync(world.world.folder, { recursive: true, force: true })
}, 60_000)

test('a server that we start there is ours, and ends with `shutdown --all`', async () => {
  using theirs = new PersonsServer()
  await using world = await TestWorld.open({ CAO_TMUX_SOCKET: theirs.socket })
  await world.startServer()
  await world.agent()
  expect(theirs.tmux('show-options', '-sv', 'exit-empty')).toBe('off')
  expect((await world.client.health()).backend?.details['foreign']).toBeUndefined()
  await world.endServer('SIGKILL')
  await world.startServer()
  expect((await world.client.health()).backend?.details['foreign']).toBeUndefined()
  await world.client.shutdownAll()
  expect(theirs.isRunning).toBe(false)
}, 60_000)

test('agents are found where they are, though the configuration names another place by now', async () => {
  using theirs = new PersonsServer()
  theirs.start()
  await using world = await TestWorld.open({ CAO_TMUX_SOCKET: theirs.socket })
  await world.startServer()
  const agent = await world.agent()
  await world.endServer('SIGTERM')
  const other = { CAO_TMUX_SOCKET: join(theirs.dir, 'other') }
  const refused = await world.run('cao-server', [], { env: other })
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain(`start with CAO_TMUX_SOCKET=${theirs.socket}`)
  await world.startServer({ env: { CAO_TMUX_SOCKET: '' } })
  await world.client.sendInput(agent, { message: 'reply found' })
  expect(await world.client.getTerminal(agent)).toMatchObject({ life: 'live' })
}, 60_000)

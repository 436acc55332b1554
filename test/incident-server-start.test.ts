/**
 * How the tmux server is started, again and again, and what is said where none can be: after an outside kill, over stale
 * sockets, wedged, with an older tmux, without one.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { controlClient, exitEmpty, findByCommand, lifeOf, tmuxPid, untilEnded } from './incident.case.ts'
import { pause } from './restart.case.ts'
import { TestWorld, until } from './world.case.ts'

const realTmuxPath = execFileSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim()
const realTmux = (world: TestWorld, ...args: readonly string[]): string =>
  execFileSync(realTmuxPath, ['-S', join(world.world.layout.runDir, 'tmux.sock'), ...args], { encoding: 'utf8' })

describe('the server is started, again and again', () => {
  const make = (world: TestWorld, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        world.client.createSession({
          agent_profile: 'developer',
          provider: 'scripted',
          working_directory: world.world.projectDir,
        }),
      ),
    )

  test('K1: eight first creations at once after an outside kill-server, round after round: none fails, exit-empty is off', async () => {
    await using world = await TestWorld.open()
    await world.startServer()
    // Rounds of the long variant: CAO_TEST_ROUNDS=20.
    const rounds = Number(process.env['CAO_TEST_ROUNDS'] ?? 3)
    for (let round = 0; round < rounds; round++) {
      world.tmux('kill-server')
      const made = await make(world, 8)
      expect(new Set(made.map(({ session_name }) => session_name)).size).toBe(8)
      expect(exitEmpty(world)).toBe('off')
      const found = world.tmux('list-panes', '-a', '-F', '#{@cao_terminal_id}').split('\n')
      expect(found.filter((id) => id !== '').sort()).toEqual(made.map(({ id }) => id).sort())
      await Promise.all(made.map(({ session_name }) => world.client.deleteSession(session_name)))
      expect(exitEmpty(world)).toBe('off')
    }
  }, 150_000)

  test('the very first session after the start, and one over a stale socket', async () => {
    await using world = await TestWorld.open()
    await world.startServer()
    await world.agent()
    expect(exitEmpty(world)).toBe('off')
    // Both die; the socket of tmux stays behind.
    await world.endServer('SIGKILL')
    const pid = tmuxPid(world)
    process.kill(pid, 'SIGKILL')
    await untilEnded(pid)
    expect(existsSync(join(world.world.layout.runDir, 'tmux.sock'))).toBe(true)
    await world.startServer()
    await world.agent()
    expect(exitEmpty(world)).toBe('off')
    expect(tmuxPid(world)).not.toBe(pid)
  }, 60_000)

  test('a part of the start that this tmux does not know fails alone: the launch succeeds, the log and the details say why', async () => {
    // A tmux that does not know one of the options that can be done without.
    using shim = new TmuxShim([
      'for word in "$@"; do',
      '  shift',
      `  case "$word" in *focus-events*) word="set-option -s no-such-option on" ;; esac`,
      '  set -- "$@" "$word"',
      'done',
    ])
    await using world = await TestWorld.open(shim.env)
    await world.startServer()
    await world.agent()
    expect(exitEmpty(world)).toBe('off')
    expect(world.serverLog).toMatch(/no-such-option.*parts of the tmux start failed/)
    expect((await world.client.health()).backend?.details['complaints']).toContain('invalid option: no-such-option')
  }, 60_000)

  test('a tmux program that is away or refuses for a while makes nothing dead and nothing twice', async () => {
    using shim = new TmuxShim([
      'case $(cat "$0.mode" 2>/dev/null) in',
      '127) exit 127 ;;',
      'denied) echo "permission denied" >&2; exit 1 ;;',
      'esac',
    ])
    await using world = await TestWorld.open(shim.env)
    await world.startServer()
    const agent = await world.agent()
    for (const mode of ['127', 'denied']) {
      shim.mode = mode
      // Without its connection everything has to go through the program.
      process.kill(Number(realTmux(world, 'list-clients', '-F', '#{client_pid}')), 'SIGKILL')
      const sent = await world.client.sendMessage(agent, { message: `reply ${mode}`, sender_id: 'user' })
      await until('the status to be unknown', 20_000, async () =>
        (await world.client.getTerminal(agent)).status === 'unknown' ? true : undefined,
      )
      expect(await lifeOf(world, agent)).toBe('live')
      shim.mode = ''
      await until('the text to be answered', 30_000, async () =>
        (await world.client.getMessage(sent.message_id)).state === 'answered' ? true : undefined,
      )
    }
    expect(world.accepted(agent)).toHaveLength(2)
    expect(await world.client.listTerminals()).toHaveLength(1)
  }, 90_000)

  test.each([
    ['our own control client', 'ours'],
    ["a person's control client", 'theirs'],
  ])(
    'K4, K17: kill-server while %s stands still: the loss is told once, and a server is there again',
    async (_name, whose) => {
      await using world = await TestWorld.open()
      await world.startServer()
      const agent = await world.agent({ session: 'stuck' })
      const pid = tmuxPid(world)
      using person = whose === 'ours' ? undefined : await ControlClient.attach(world, 'cao-stuck')
      const stuck = person?.pid ?? controlClient(world)
      process.kill(stuck, 'SIGSTOP')
      await killServerFromOutside(world)
      await until('the loss to be told', 40_000, async () =>
        (await lifeOf(world, agent)) === 'lost' ? true : undefined,
      )
      await untilEnded(pid)
      await until('a new server', 20_000, async () =>
        (await world.client.health()).backend?.state === 'ready' ? true : undefined,
      )
      await world.agent()
      expect(tmuxPid(world)).not.toBe(pid)
      const { events } = await world.client.listEvents({ limit: 500 })
      expect(events.filter((event) => event.type === 'backend.lost')).toHaveLength(1)
    },
    90_000,
  )

  test('K4: a server that we find wedged when we start is freed and replaced', async () => {
    await using world = await TestWorld.open()
    await world.startServer()
    const agent = await world.agent({ session: 'stuck' })
    const pid = tmuxPid(world)
    using person = await ControlClient.attach(world, 'cao-stuck')
    process.kill(person.pid, 'SIGSTOP')
    await world.endServer('SIGKILL')
    await killServerFromOutside(world)
    await world.startServer()
    await untilEnded(pid)
    expect(await lifeOf(world, agent)).toBe('lost')
    await world.agent()
  }, 60_000)

  test("K4: everything is shut down while a person's control client stands still", async () => {
    await using world = await TestWorld.open()
    await world.startServer()
    await world.agent({ session: 'stuck' })
    const pid = tmuxPid(world)
    using person = await ControlClient.attach(world, 'cao-stuck')
    process.kill(person.pid, 'SIGSTOP')
    expect(await world.client.shutdownAll()).toMatchObject({ errors: [] })
    await untilEnded(pid)
  }, 60_000)
})

describe('where no server can be started', () => {
  /** Runs `cao-server`, which must end by itself with a sentence and start nothing. */
  const refused = async (world: TestWorld): Promise<string> => {
    try {
      const ran = await world.run('cao-server', [])
      expect(ran.code).not.toBe(0)
      expect(findByCommand(world.world.folder)).toEqual([])
      return ran.err
    } finally {
      rmSync(world.world.folder, { recursive: true, force: true })
    }
  }

  test('tmux is missing: one sentence says what to install', async () => {
    using shim = new TmuxShim([])
    rmSync(shim.path)
    const world = await TestWorld.open({ PATH: shim.dir })
    expect(await refused(world)).toMatch(/tmux is not installed; install it/)
  })

  test('tmux is too old: its version and the one that is needed', async () => {
    using shim = new TmuxShim(['if [ "$1" = -V ]; then echo "tmux 3.1c"; exit 0; fi'])
    expect(await refused(await TestWorld.open(shim.env))).toContain('tmux 3.1c is too old; CAO needs 3.2a or newer')
  })

  test('a run directory that others may write is refused with its name', async () => {
    const world = await TestWorld.open()
    const { runDir } = world.world.layout
    mkdirSync(runDir, { recursive: true })
    chmodSync(runDir, 0o777)
    expect(await refused(world)).toContain(`${runDir} can be written by others`)
  })

  test('a home too deep for a socket works, at a private path of its own', async () => {
    await using world = await TestWorld.open()
    const env = { CAO_HOME: join(world.world.folder, 'deep'.repeat(30)) }
    const ran = await world.run('cao', ['ls'], { env })
    expect(ran).toMatchObject({ code: 0 })
    const shown = await world.run('cao', ['server', 'status', '--json'], { env })
    const { socket } = (JSON.parse(shown.out) as { backend: { details: { socket: string } } }).backend.details
    expect(Buffer.byteLength(socket)).toBeLessThan(100)
    expect((await world.run('cao', ['shutdown', '--all'], { env })).code).toBe(0)
    expect((await world.run('cao', ['server', 'stop'], { env })).code).toBe(0)
  }, 60_000)
})

/** A person's `tmux -C`, as iTerm2 starts one. */
class ControlClient implements Disposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async attach(world: TestWorld, session: string): Promise<ControlClient> {
    const socket = join(world.world.layout.runDir, 'tmux.sock')
    const args = ['-u', '-S', socket, '-C', 'attach-session', '-t', `=${session}`]
    const child = spawn(realTmuxPath, args, { env: world.world.env, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdout.resume()
    const client = new ControlClient(child)
    await until('it to be attached', 10_000, () =>
      world.tmux('list-clients', '-F', '#{client_pid}').split('\n').includes(String(client.pid)) ? true : undefined,
    )
    return client
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}

/** `tmux kill-server` of a person, which never comes back from a server that can not end. */
async function killServerFromOutside(world: TestWorld): Promise<void> {
  const socket = join(world.world.layout.runDir, 'tmux.sock')
  const child = spawn(realTmuxPath, ['-S', socket, 'kill-server'], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await Promise.race([ended, pause(2_000)])
  child.kill('SIGKILL')
  await ended
}

/** A `tmux` earlier on PATH: runs `lines`, then becomes the real one. `mode` is what it finds in a file beside it. */
class TmuxShim implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'cao-shim-'))
  readonly path = join(this.dir, 'tmux')

  constructor(lines: readonly string[]) {
    writeFileSync(this.path, ['#!/bin/sh', ...lines, `exec ${realTmuxPath} "$@"`, ''].join('\n'), { mode: 0o755 })
  }

  get env(): Readonly<Record<string, string>> {
    return { PATH: `${this.dir}:${process.env['PATH'] ?? ''}` }
  }

  set mode(mode: string) {
    writeFileSync(`${this.path}.mode`, mode)
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

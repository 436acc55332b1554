/** The `cao` command as a person runs it: the built program, a server that it starts by itself, real tmux, scripted agents. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { requireServer } from '../src/cli/ensure-server.ts'
import { createClient } from '../src/client/client.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { findProcesses } from '../src/world/find-processes.ts'
import { createWorld, endWorld, type PrivateWorld, removeWorld } from '../src/world/private-world.ts'

const cao = join(import.meta.dirname, '..', 'bin', 'cao')
type Ran = { readonly code: number | null; readonly out: string; readonly err: string }
type Env = Readonly<Record<string, string>>

function start(world: PrivateWorld, args: readonly string[], env: Env = {}): ChildProcess {
  return spawn(cao, args, { env: { ...world.env, ...env }, cwd: world.projectDir, stdio: ['pipe', 'pipe', 'pipe'] })
}

function finish(child: ChildProcess, input = ''): Promise<Ran> {
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin?.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

/** Ends everything; a process that is left fails the test. */
async function close(world: PrivateWorld): Promise<void> {
  const file = await requireServer({ layout: world.layout, clock: systemClock }).catch(() => undefined)
  const client = file === undefined ? undefined : createClient({ socketPath: file.socket_path })
  const problems = await endWorld(world, client)
  await removeWorld(world)
  expect(problems).toEqual([])
}

describe('cao on a CAO of its own', () => {
  let world: PrivateWorld
  const run = (args: readonly string[], options: { readonly input?: string; readonly env?: Env } = {}) =>
    finish(start(world, args, options.env), options.input)
  const list = async () => JSON.parse((await run(['ls', '--json'])).out) as readonly TerminalBody[]
  /** An agent that is at rest; its session has its name. */
  const launch = async (name: string) => {
    const { code, out, err } = await run([
      'launch',
      '--agents',
      'developer',
      '--provider',
      'scripted',
      '--session-name',
      name,
      '--json',
    ])
    expect([code, err]).toEqual([0, ''])
    return (JSON.parse(out) as TerminalBody).id
  }
  const end = (name: string) => run(['shutdown', '--session', name])

  beforeAll(async () => {
    world = await createWorld({ clock: systemClock, env: process.env, name: 'test' })
  })
  afterAll(() => close(world))

  test('what needs no server starts none, and an agent starts none either', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: expect.stringMatching(/^cao \d/), err: '' })
    expect((await run(['help'])).out).toContain('cao COMMAND [OPTIONS]')
    expect((await run(['ls', '--help'])).out).toContain('Usage: cao ls [--watch] [--json]')
    expect(await run(['lss'])).toEqual({ code: 2, out: '', err: 'Error: "lss" is no command; "cao help" lists them\n' })
    expect(await run(['ls', '--wach'])).toMatchObject({ code: 2, out: '' })
    expect(await run(['server', 'status'])).toMatchObject({ code: 69 })
    expect(await run(['server', 'stop'])).toMatchObject({ code: 0, out: 'no server was running\n' })
    const inAgent = await run(['ls'], { env: { CAO_TERMINAL_ID: '1a2b3c4d' } })
    expect(inAgent).toEqual({
      code: 69,
      out: '',
      err: expect.stringMatching(/^Error: .* an agent does not start one.*\n$/),
    })
    expect(existsSync(world.layout.home)).toBe(false)
  })

  test('ten commands at once from nothing end up with one server', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => run(['ls'])))
    const nobody = { code: 0, out: 'no agents; start one with "cao launch --agents NAME"\n', err: '' }
    expect(all).toEqual(Array.from({ length: 10 }, () => nobody))
    // Those that found the home taken need a moment to end.
    const countServers = async () =>
      (await findProcesses(world.folder)).filter(({ command }) => /cao-server/.test(command)).length
    await expect.poll(countServers, { timeout: 10_000 }).toBe(1)
    expect((await run(['server', 'status', '--json'])).code).toBe(0)
  })

  test('a headless launch prints the answer and nothing else', async () => {
    const words = [
      'launch',
      '--agents',
      'code_supervisor',
      '--provider',
      'scripted',
      '--session-name',
      'one',
      '--headless',
    ]
    expect(await run([...words, 'wait 100\nreply hello\\n漢字'])).toEqual({ code: 0, out: 'hello\n漢字\n', err: '' })
    await end('one')
  })

  test('a headless launch that gets no answer says why and leaves the agent to be looked at', async () => {
    const words = ['launch', '--agents', 'developer', '--provider', 'scripted', '--headless', '--session-name']
    const late = await run([...words, 'late', '--timeout', '1', 'hang'])
    expect(late).toMatchObject({
      code: 12,
      out: '',
      err: expect.stringMatching(/^Error: no answer in time: .*cao explain .*\n$/),
    })
    const crashed = await run([...words, 'crashed', 'crash 3'])
    expect(crashed).toMatchObject({ code: 11, out: '', err: expect.stringMatching(/^Error: no answer: .*\n$/) })
    expect((await list()).map(({ session_name }) => session_name).toSorted()).toEqual(['cao-crashed', 'cao-late'])
    await Promise.all([end('late'), end('crashed')])
  })

  test('a launch that is wrong ends with one sentence that says what to do, and leaves nothing behind', async () => {
    await launch('taken')
    const before = { terminals: await list(), folders: readdirSync(world.layout.terminalsDir) }
    const base = ['launch', '--headless', 'hello']
    const good = [...base, '--agents', 'developer', '--provider', 'scripted']
    const wrong: [readonly string[], number, RegExp][] = [
      [[...base], 2, /--agents NAME is missing/],
      [[...base, '--agents', 'nobody'], 6, /there are: code_supervisor, developer, reviewer/],
      [[...base, '--agents', '../x'], 6, /no name of a profile/],
      [[...base, '--agents', 'developer', '--provider', 'nope'], 6, /choose one of: .*scripted/],
      [[...good, '--session-name', 'a b'], 2, /no session name/],
      [[...good, '--session-name', 'taken'], 5, /exists already; choose another/],
      [[...good, '--working-directory', 'nowhere'], 8, /nowhere does not exist/],
      [[...good, '--env', 'A-B=secret'], 2, /--env takes KEY=VALUE/],
      [[...good, '--env', 'CODEX_SANDBOX=secret'], 2, /CODEX_SANDBOX/],
      [[...good, '--timeout', 'soon'], 2, /--timeout takes a number/],
      [[...good, '--timeout', '-5'], 2, /--timeout takes a number, and not "-5"/],
      [[...good, '--timeout', '0'], 2, /--timeout takes a number above 0/],
      [[...good, '--session-name', '-x'], 2, /--session-name=-x/],
      [[...good.slice(0, 2), '  \n', ...good.slice(3)], 2, /needs a MESSAGE/],
      [['launch', '--headless', '--agents', 'developer'], 2, /needs a MESSAGE/],
      [['launch', '--async', '--agents', 'developer', 'x'], 2, /--async goes with --headless/],
    ]
    const missing = [...base, '--agents', 'developer', '--provider', 'opencode_cli']
    wrong.push([missing, 7, /opencode is not installed: install it/])
    for (const [args, code, sentence] of wrong) {
      const ran = await run(args, { env: { PATH: '/usr/bin:/bin' } })
      expect({ args, ...ran }).toEqual({ args, code, out: '', err: expect.stringMatching(/^Error: [^\n]+\n$/) })
      expect(ran.err).toMatch(sentence)
      expect(ran.err).not.toContain('secret')
    }
    const ids = (terminals: readonly TerminalBody[]) => terminals.map(({ id }) => id)
    expect(ids(await list())).toEqual(ids(before.terminals))
    expect(readdirSync(world.layout.terminalsDir)).toEqual(before.folders)
    await end('taken')
  })

  test('a message from stdin arrives to the last byte, one that begins with "-" arrives, and the proof is told', async () => {
    const id = await launch('send')
    const text = 'reply got\n\t"quoted" $HOME #(touch x) `y`;\\\n\n漢字 👍🏽\n'
    expect(await run(['send', id, '-'], { input: text })).toEqual({
      code: 0,
      out: expect.stringMatching(/^message \d+ (confirmed|turn_started|answered) \(.+\)\n$/),
      err: '',
    })
    expect(await run(['send', id, '-rf ;'])).toMatchObject({ code: 0 })
    expect(await run(['send', id, '--', '--json'])).toMatchObject({ code: 0 })
    expect(await run(['send', id, ''])).toMatchObject({ code: 2, err: expect.stringMatching(/message is empty/) })
    expect(await run(['send', 'deadbeef', 'x'])).toMatchObject({ code: 4, err: expect.stringMatching(/deadbeef/) })
    expect(await run(['send', id, ' \n'])).toMatchObject({ code: 2, err: expect.stringMatching(/message is empty/) })
    const { open_messages } = JSON.parse((await run(['explain', id, '--json'])).out) as { open_messages: unknown[] }
    expect(open_messages.length).toBeLessThanOrEqual(1)
    await expect.poll(async () => (await run(['output', id])).out).toBe('You said: --json\n')
    expect((await run(['output', id, '--mode', 'screen'])).out).toContain('漢字 👍🏽')
    expect(await run(['output', id, '--mode', 'half'])).toMatchObject({ code: 2 })
    await end('send')
  })

  test('ls, explain and events say what an agent does and why', async () => {
    const id = await launch('look')
    const table = (await run(['ls'])).out.trimEnd().split('\n')
    expect(table[0]).toMatch(/^TERMINAL +SESSION +PROFILE +PROVIDER +STATUS +REASON +SINCE +QUEUE$/)
    expect(table[1]).toMatch(new RegExp(`^${id} +cao-look +developer +scripted +idle +ready +\\d+s +0$`))
    const explained = (await run(['explain', id])).out
    for (const part of ['status     idle (ready)', 'Evidence, oldest first', 'composer', 'Open messages\n  none']) {
      expect(explained).toContain(part)
    }
    expect((await run(['events'])).out).toMatch(new RegExp(`${id} was started: developer \\(scripted\\) in cao-look`))
    const last = JSON.parse((await run(['events', '--json'])).out.trimEnd().split('\n').at(-1) ?? '') as { seq: number }
    expect((await run(['events', '--after', String(last.seq)])).out).toBe('')
    await end('look')
  })

  test('ls --watch and events --follow go on until they are ended', async () => {
    const watching = start(world, ['ls', '--watch', '--json'])
    const following = start(world, ['events', '--follow'])
    const watched = finish(watching)
    const followed = finish(following)
    const firstLine = new Promise((resolve) => watching.stdout?.once('data', resolve))
    await firstLine
    const id = await launch('watch')
    await expect.poll(async () => (await list()).length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    watching.kill('SIGINT')
    following.kill('SIGINT')
    const pictures = (await watched).out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as readonly TerminalBody[])
    expect(pictures[0]).toEqual([])
    expect(pictures.at(-1)).toMatchObject([{ id, status: 'idle' }])
    expect((await followed).out).toContain(`${id} is idle (ready)`)
    await end('watch')
  })

  test('without a terminal, attach and an interactive launch print the command that attaches', async () => {
    const words = ['launch', '--agents', 'developer', '--provider', 'scripted', '--session-name', 'pane', 'reply typed']
    const launched = await run(words)
    expect(launched).toEqual({
      code: 0,
      out: expect.stringMatching(/^tmux .*attach-session.*\n$/),
      err: expect.any(String),
    })
    expect(launched.err).toMatch(
      /^message \d+ \w+ \(.*\)\ndeveloper \(scripted\) runs as [0-9a-f]{8} in cao-pane; it asks .*\n.*\n$/,
    )
    const { argv } = JSON.parse((await run(['attach', 'pane', '--json'])).out) as { argv: readonly string[] }
    expect(argv).toContain('attach-session')
    expect((await run(['attach', 'cao-pane'])).out).toBe(launched.out)
    expect(await run(['attach', 'nobody'])).toMatchObject({
      code: 4,
      err: expect.stringMatching(/no agent and no session/),
    })
    await end('pane')
  })

  test('in a terminal, attach shows the agent until the person detaches', async () => {
    await launch('shown')
    const socket = join(world.folder, 'outer.sock')
    const tmux = (...words: readonly string[]) =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], { env: world.env, encoding: 'utf8' })
    tmux('new-session', '-d', '-x', '100', '-y', '20', `'${cao}' attach shown; echo left with $?; exec sleep 600`)
    try {
      await expect
        .poll(() => tmux('capture-pane', '-p'), { timeout: 10_000 })
        .toContain('Say what to do, or give rules')
      tmux('send-keys', 'C-b', 'd')
      await expect.poll(() => tmux('capture-pane', '-p'), { timeout: 10_000 }).toContain('left with 0')
      expect(await list()).toMatchObject([{ life: 'live', session_name: 'cao-shown' }])
    } finally {
      tmux('kill-server')
    }
    await end('shown')
  })

  test('Ctrl-C leaves a headless launch and says that the agent goes on', async () => {
    const child = start(world, [
      'launch',
      '--agents',
      'developer',
      '--provider',
      'scripted',
      '--headless',
      'wait 3000\nreply late',
    ])
    const ended = finish(child)
    await expect
      .poll(async () => (await list()).map(({ status }) => status), { timeout: 10_000 })
      .toEqual(['processing'])
    child.kill('SIGINT')
    expect(await ended).toEqual({
      code: 130,
      out: '',
      err: expect.stringMatching(/runs as [0-9a-f]{8} in .*, and goes on; "cao output/),
    })
    const [terminal] = await list()
    expect(terminal?.life).toBe('live')
    await expect.poll(async () => (await run(['output', terminal?.id ?? ''])).out, { timeout: 10_000 }).toBe('late\n')
    await end(terminal?.session_name ?? '')
  })

  test('Ctrl-C before the job exists takes the launch back and says so', async () => {
    const words = ['launch', '--agents', 'developer', '--provider', 'scripted', '--headless', 'reply x']
    await list()
    const client = createClient({ socketPath: (await requireServer({ ...world, clock: systemClock })).socket_path })
    const child = start(world, words)
    const ended = finish(child)
    while ((await client.listTerminals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    expect(await ended).toEqual({ code: 130, out: '', err: 'the launch was taken back; no agent of it is left\n' })
    expect([await list(), await client.listSessions()]).toEqual([[], []])
    const named = start(world, [...words, '--session-name', 'mine'])
    const namedEnd = finish(named)
    while ((await client.listTerminals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    named.kill('SIGINT')
    expect(await namedEnd).toMatchObject({
      code: 130,
      err: expect.stringMatching(/cao shutdown --session cao-mine|taken back/),
    })
    await end('mine')
  })

  test('Ctrl-C while a message waits says that it may still be typed', async () => {
    const id = await launch('sent')
    await run(['send', id, 'wait 4000\nreply first'])
    const sending = start(world, ['send', id, 'reply second'])
    const ended = finish(sending)
    await expect.poll(async () => (await list())[0]?.queue_length, { timeout: 5_000 }).toBe(1)
    sending.kill('SIGINT')
    expect(await ended).toEqual({
      code: 130,
      out: '',
      err: `what was sent may still be typed; look with "cao explain ${id}"\n`,
    })
    await end('sent')
  })

  test('the answer of an earlier turn is told from that of this one', async () => {
    const id = await launch('turns')
    await run(['send', id, 'reply first'])
    await expect.poll(() => run(['output', id])).toEqual({ code: 0, out: 'first\n', err: '' })
    await run(['send', id, 'wait 5000\nreply second'])
    await expect.poll(async () => (await list())[0]?.status, { timeout: 5_000 }).toBe('processing')
    expect(await run(['output', id])).toMatchObject({
      code: 0,
      err: expect.stringMatching(/answer of an earlier turn/),
    })
    await end('turns')
  })

  test('what can be no id, no session and no key is refused in one sentence', async () => {
    const wrong: readonly (readonly string[])[] = [
      ['send', '', 'hi'],
      ['key', '', 'x'],
      ['key', 'deadbeef', ''],
      ['output', '../x'],
      ['explain', 'DEADBEEF'],
      ['recover', ''],
      ['attach', ''],
      ['shutdown', '--session', ''],
      ['events', '--after', '-1'],
      ['send', '--timeout', '-5', 'deadbeef', 'x'],
    ]
    for (const args of wrong) {
      const ran = await run(args)
      expect({ args, ...ran }).toEqual({ args, code: 2, out: '', err: expect.stringMatching(/^Error: [^\n]+\n$/) })
      expect(ran.err).not.toMatch(/too small|POST|expected/i)
    }
    expect((await run(['events', '--after', '99999999'])).err).toMatch(
      /^there is no event 99999999: the last one is \d+\n$/,
    )
  })

  test('a terminal that tmux can not draw on is told before anything is started for it', async () => {
    const socket = join(world.folder, 'dumb.sock')
    const tmux = (...words: readonly string[]) =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], { env: world.env, encoding: 'utf8' })
    const launchIt = `'${cao}' launch --agents developer --provider scripted --yolo`
    const each = ['', 'dumb', 'no-such-type'].map((type) => `TERM='${type}' ${launchIt}; echo "left with $?"`)
    tmux('new-session', '-d', '-x', '180', '-y', '30', `${each.join('; ')}; exec sleep 600`)
    try {
      const left = async () => tmux('capture-pane', '-p').match(/left with \d+/g)
      await expect.poll(left, { timeout: 10_000 }).toEqual(['left with 2', 'left with 2', 'left with 2'])
      expect(tmux('capture-pane', '-p')).toContain('can not draw on a terminal of the type TERM="dumb"; set')
      expect(await list()).toEqual([])
    } finally {
      tmux('kill-server')
    }
  })

  test('where the current directory is gone, agents can still be looked at and started elsewhere', async () => {
    const gone = join(world.folder, 'gone')
    const there = (words: string, home = world.layout.home) =>
      finish(
        spawn('sh', ['-c', `cd '${gone}' && rmdir '${gone}' && exec '${cao}' ${words}`], {
          env: { ...world.env, CAO_HOME: home },
          stdio: ['pipe', 'pipe', 'pipe'],
        }),
      )
    const launchIt = 'launch --agents developer --provider scripted --headless "reply here" --session-name off'
    const ran = []
    for (const words of ['--version', 'ls', launchIt, `${launchIt} --working-directory '${world.projectDir}'`]) {
      mkdirSync(gone)
      ran.push(await there(words))
    }
    mkdirSync(gone)
    ran.push(await there('ls', 'relative/home'))
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 8, 0, 8])
    expect(ran[2]?.err).toMatch(/Error: the current directory is gone; .*--working-directory.*\n$/)
    expect(ran[3]?.out).toBe('here\n')
    await end('off')
  })

  test('keys reach the agent, and what is no key is refused', async () => {
    const id = await launch('keys')
    for (const key of ['h', 'i', 'Enter']) expect(await run(['key', id, key])).toEqual({ code: 0, out: '', err: '' })
    await expect.poll(async () => (await run(['output', id])).out).toBe('You said: hi\n')
    expect(await run(['key', id, 'hi'])).toMatchObject({ code: 2, err: expect.stringMatching(/is no key/) })
    await end('keys')
  })

  test('agents go on while the server is stopped, and the next command finds them', async () => {
    const id = await launch('lasting')
    expect(await run(['server', 'stop'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/has ended; agents that run go on/),
    })
    expect((await findProcesses(world.folder)).some(({ command }) => /scripted-agent/.test(command))).toBe(true)
    expect(await list()).toMatchObject([{ id, life: 'live' }])
    const async = ['launch', '--agents', 'developer', '--provider', 'scripted', '--headless', '--async', 'reply later']
    expect(await run(async)).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f]{8}\n$/) })
    expect(await run(['shutdown'])).toMatchObject({ code: 2 })
    expect(await run(['shutdown', '--all'])).toMatchObject({ code: 0, out: expect.stringContaining(id) })
    expect((await findProcesses(world.folder)).filter(({ command }) => /scripted-agent|tmux/.test(command))).toEqual([])
    expect(await run(['shutdown', '--all'])).toEqual({ code: 0, out: 'nothing was running\n', err: '' })
    await launch('again')
    await end('again')
    expect(await run(['server', 'stop'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/no agent runs, and tmux goes on; "cao shutdown --all" ends it\n$/),
    })
    expect((await run(['shutdown', '--all'])).code).toBe(0)
    expect(await list()).toEqual([])
    expect((await run(['server', 'stop'])).out).toMatch(/agents that run go on\n$/)
  })

  test('doctor names what is there', async () => {
    const { code, out } = await run(['doctor'])
    expect(code).toBe(0)
    for (const what of ['node', 'tmux', 'home', 'disk', 'server', 'scripted', 'profiles']) {
      expect(out).toMatch(new RegExp(`^${what} +ok`, 'm'))
    }
  })
})

describe('cao with a home that can not be one', () => {
  let world: PrivateWorld
  beforeAll(async () => {
    world = await createWorld({ clock: systemClock, env: process.env, name: 'test' })
  })
  afterAll(() => close(world))

  test('every command ends with one sentence about the home', async () => {
    const file = join(world.folder, 'file')
    writeFileSync(file, '')
    const launch = ['launch', '--agents', 'developer', '--headless', 'x']
    for (const home of [file, join(file, 'below'), '/proc/no-such-folder/home', `${file}\nx`, `/${'x'.repeat(600)}`]) {
      for (const args of [['ls'], launch, ['shutdown', '--all'], ['server', 'start'], ['server', 'run']]) {
        const ran = await finish(start(world, args, { CAO_HOME: home }))
        const err = expect.stringMatching(/^Error: [^\n]+choose another folder by CAO_HOME\n$/)
        expect({ home, args, ...ran }).toEqual({ home, args, code: 2, out: '', err })
      }
    }
    const doctor = await finish(start(world, ['doctor'], { CAO_HOME: file }))
    expect(doctor).toEqual({ code: 2, err: '', out: expect.stringMatching(/^home +fail .*choose another folder/m) })
  })

  test('a damaged database is the exit code of the command', async () => {
    const home = join(world.folder, 'damaged')
    mkdirSync(join(home, 'db'), { recursive: true, mode: 0o700 })
    writeFileSync(join(home, 'db', 'cao.db'), 'no database at all '.repeat(400))
    expect(await finish(start(world, ['ls'], { CAO_HOME: home }))).toEqual({
      code: 65,
      out: '',
      err: expect.stringMatching(/^Error: .*damaged[^\n]*\n$/),
    })
  })
})

/** `cao config`, `cao env` and `cao skills` as a person runs them: the built program on a home of its own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ran, TestWorld, until } from './world.case.ts'

const caoProgram = join(import.meta.dirname, '..', 'bin', 'cao')
let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open({ CAO_LOG_LEVEL: '' })
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

type How = { readonly input?: string; readonly env?: Readonly<Record<string, string>> }
const cao = (args: string, how: How = {}): Promise<Ran> => world.run('cao', args.split(' '), how)
const json = async (args: string, how: How = {}): Promise<unknown> => JSON.parse((await cao(`${args} --json`, how)).out)
const modeOf = (path: string) => statSync(path).mode & 0o777

test('an agent changes neither the home nor the server by a command, and may look', async () => {
  const env = { CAO_TERMINAL_ID: '1a2b3c4d' }
  for (const args of [
    'config set logging.level debug',
    'config unset logging.level',
    'env set TOKEN x',
    'env unset TOKEN',
    'skills add .',
    'skills remove plan',
    'server stop',
    'service install',
    'service uninstall',
    'doctor --repair-store',
  ]) {
    const refused = await cao(args, { env })
    expect([args, refused.code, refused.err]).toEqual([args, 77, 'Error: only a person may do this, not an agent\n'])
  }
  expect((await cao('config get logging.level', { env })).code).toBe(0)
})

test('what can not be printed is told as that, and not as a fault of CAO', () => {
  const script = `exec "${caoProgram}" config list > /dev/full`
  const { status, stderr } = spawnSync('sh', ['-c', script], { env: world.world.env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([
    75,
    expect.stringMatching(/^Error: what this command prints can not be written: ENOSPC/),
  ])
})

test('of changes by several commands at once none is lost', async () => {
  const names = ['A1', 'A2', 'A3', 'A4', 'A5', 'A6']
  await Promise.all(names.map((name) => cao(`env set ${name}`, { input: 'x' })))
  expect((await json('env list')) as object[]).toMatchObject(names.map((name) => ({ name })))
  for (const name of names) await cao(`env unset ${name}`)
})

describe('cao config', () => {
  test('shows what holds and who says it, and sets and takes back without a server', async () => {
    const { settingsFile } = world.world.layout
    expect(await cao('config get logging.level')).toEqual({ code: 0, out: 'info\n', err: '' })
    const set = await cao('config set logging.level debug')
    expect(set).toEqual({ code: 0, out: '', err: 'logging.level is set; a server sees it at its next start\n' })
    expect(JSON.parse(readFileSync(settingsFile, 'utf8'))).toEqual({ logging: { level: 'debug' } })
    expect(modeOf(settingsFile)).toBe(0o600)
    expect(await json('config get CAO_LOG_LEVEL')).toMatchObject({
      value: 'debug',
      source: 'settings',
      default: 'info',
    })
    const env = { CAO_LOG_LEVEL: 'warn' }
    expect(await json('config get logging.level', { env })).toMatchObject({ value: 'warn', source: 'environment' })
    expect((await cao('config set logging.level error', { env })).err).toMatch(/CAO_LOG_LEVEL in your environment wins/)
    expect((await cao('config unset logging.level')).code).toBe(0)
    expect(await json('config get logging.level')).toMatchObject({ value: 'info', source: 'default' })
    expect((await cao('config path')).out).toBe(`${settingsFile}\n`)
  })

  test('lists every option, and what in the file is none', async () => {
    const { settingsFile } = world.world.layout
    writeFileSync(settingsFile, '{"server": {"prot": 1}, "logging": {"level": "loud"}, "memory": {"enabled": true}}')
    const listed = await cao('config list')
    expect(listed.out).toMatch(/^OPTION +VALUE +FROM +VARIABLE\n/)
    expect(listed.out).toMatch(/^logging\.level +logging\.level in settings\.json takes trace, .* invalid/m)
    expect(listed.err).toBe('in settings.json and not used: server.prot, memory.enabled\n')
    expect(await json('config list')).toMatchObject({ unknown: ['server.prot', 'memory.enabled'] })
    await cao('config set logging.level warn')
    expect(JSON.parse(readFileSync(settingsFile, 'utf8'))).toEqual({
      server: { prot: 1 },
      logging: { level: 'warn' },
      memory: { enabled: true },
    })
    await cao('config unset logging.level')
  })

  test.each([
    ['config get server.prot', /no option is called "server\.prot"; is it server\.port/],
    ['config set server.port 70000', /server\.port takes a port from 0 to 65535, or none, and not "70000"/],
    ['config set terminal.recover maybe', /takes manual or auto/],
    ['config set server.port', /VALUE is missing/],
    ['config constructor', /"constructor" is none of list, get, set/],
  ])('refuses in words: cao %s', async (args, words) => {
    expect(await cao(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(words) as unknown })
  })
})

describe('cao env', () => {
  test('keeps a value from stdin, shows it masked, and reveals it only when told to', async () => {
    const { envFile } = world.world.layout
    const value = `s3 cret'"#\n$X`
    const set = await cao('env set DEPLOY_KEY', { input: `${value}\n` })
    expect(set).toEqual({ code: 0, out: '', err: 'DEPLOY_KEY is kept; agents that are launched from now on have it\n' })
    expect(modeOf(envFile)).toBe(0o600)
    expect(await cao('env list')).toEqual({ code: 0, out: 'DEPLOY_KEY=********\n', err: '' })
    expect(await cao('env get DEPLOY_KEY')).toEqual({ code: 0, out: '********\n', err: '' })
    expect(await cao('env get DEPLOY_KEY --reveal')).toEqual({ code: 0, out: `${value}\n`, err: '' })
    expect(await json('env list')).toEqual([{ name: 'DEPLOY_KEY', value: '********', reaches_agents: true }])
    expect(await cao('env get DEPLOY_KY')).toMatchObject({
      code: 4,
      err: expect.stringContaining('is it DEPLOY_KEY?') as unknown,
    })
    expect((await cao('env unset DEPLOY_KEY')).code).toBe(0)
    expect(await cao('env list')).toEqual({ code: 0, out: '', err: '' })
  })

  test('asks a person at a terminal, and does not show what they type', async () => {
    const socket = join(world.world.folder, 'person')
    const { projectDir, env } = world.world
    const tmux = (...args: string[]) =>
      execFileSync('tmux', ['-f', '/dev/null', '-S', socket, ...args], { env, encoding: 'utf8' })
    const screen = () => tmux('capture-pane', '-p', '-t', 'person')
    const untilShown = (text: string) => until(text, 10_000, () => (screen().includes(text) ? true : undefined))
    tmux('new-session', '-d', '-s', 'person', '-c', projectDir, '-x', '100', '-y', '20', 'sh')
    try {
      tmux('send-keys', '-t', 'person', `${caoProgram} env set ASKED; echo ended $?`, 'Enter')
      await untilShown('ASKED (is not shown):')
      tmux('send-keys', '-l', '-t', 'person', 'typed-by-hand')
      tmux('send-keys', '-t', 'person', 'Enter')
      await untilShown('ended 0')
      expect(screen()).not.toContain('typed-by-hand')
      expect((await cao('env get ASKED --reveal')).out).toBe('typed-by-hand\n')
      tmux('send-keys', '-t', 'person', `${caoProgram} env set AGAIN; echo left with $?`, 'Enter')
      await untilShown('AGAIN (is not shown):')
      tmux('send-keys', '-t', 'person', 'C-c')
      await untilShown('left with 130')
      expect((await cao('env unset ASKED')).code).toBe(0)
    } finally {
      tmux('kill-server')
    }
  }, 60_000)

  test('takes the forms of upstream with a warning, and says what agents never get', async () => {
    for (const args of ['env set TOKEN one', 'env set TOKEN=one']) {
      expect((await cao(args)).err).toMatch(/^warning: the value stands in the history of your shell now/)
      expect((await cao('env get TOKEN --reveal')).out).toBe('one\n')
    }
    expect((await cao('env set CAO_TERMINAL_ID', { input: 'x' })).err).toMatch(/is filled into profiles only/)
    await cao('env unset CAO_TERMINAL_ID')
    await cao('env unset TOKEN')
  })

  test.each([
    ['env set A-B', 'x', /NAME is a name of a variable/],
    ['env set EMPTY', '', /no value of EMPTY was given on stdin; nothing was changed/],
    ['env set LONG', 'x'.repeat(3_000), /the value of LONG has more than 2048 bytes/],
    ['env set QUOTES', `'"\``, /the value of QUOTES can not be kept/],
    ['env list --reveal', '', /--reveal goes with get/],
  ])('refuses in words, without the value: cao %s', async (args, input, words) => {
    const refused = await cao(args, { input })
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringMatching(words) as unknown })
    expect(await cao('env list')).toEqual({ code: 0, out: '', err: '' })
  })
})

describe('with agents', () => {
  test('what is kept reaches the agent and its profile, and stands in no list of processes, log or answer', async () => {
    const secret = 'hunter2-hunter2'
    const { layout } = world.world
    await cao('env set DEPLOY_KEY', { input: secret })
    mkdirSync(layout.agentStoreDir, { recursive: true, mode: 0o700 })
    writeFileSync(
      join(layout.agentStoreDir, 'deployer.md'),
      '---\nname: deployer\ndescription: d\n---\nKey: ${DEPLOY_KEY}\n',
    )
    await world.startServer()
    const id = await world.agent({ profile: 'deployer' })
    const pids = () => world.tmux('list-panes', '-a', '-F', '#{pane_pid}').trim().split('\n')
    const children = pids().flatMap((pid) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' '),
    )
    const envs = children.filter(Boolean).map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8'))
    expect(envs.some((env) => env.includes(`DEPLOY_KEY=${secret}`))).toBe(true)
    for (const pid of [...pids(), ...children].filter(Boolean)) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret)
    }
    // The agent was told of the skills, below its own prompt with the variable filled in.
    expect(world.transcript(id)[0]?.['systemPrompt']).toMatch(
      /^Key: hunter2-hunter2\n\n## Skills\n[^]*- cao-worker-protocols: /,
    )
    expect(world.serverLog).not.toContain(secret)
    expect(JSON.stringify(await world.client.getTerminal(id))).not.toContain(secret)
    expect(JSON.stringify(await world.client.getProfile('deployer'))).not.toContain(secret)
    await world.client.shutdownAll()
  }, 60_000)

  test('a skill is added, listed beside the built-in ones, shown as agents load it, and removed', async () => {
    const folder = join(world.world.projectDir, 'ship-it')
    mkdirSync(folder)
    writeFileSync(join(folder, 'SKILL.md'), '---\nname: ship-it\ndescription: how we ship\n---\nRun `make ship`.\n')
    expect(await cao('skills add ship-it')).toEqual({ code: 0, out: '', err: 'added: ship-it, how we ship\n' })
    expect(await cao('skills add ship-it')).toMatchObject({
      code: 9,
      err: expect.stringContaining('--force') as unknown,
    })
    expect((await cao('skills add ./ship-it --force')).code).toBe(0)
    const listed = (await json('skills list')) as readonly Record<string, unknown>[]
    expect(listed.map(({ name, source }) => [name, source === 'built-in'])).toEqual([
      ['cao-supervisor-protocols', true],
      ['cao-worker-protocols', true],
      ['ship-it', false],
    ])
    expect(await cao('skills show ship-it')).toEqual({ code: 0, out: 'Run `make ship`.\n', err: '' })
    expect(await cao('skills show nothing')).toMatchObject({ code: 4 })
    expect((await cao('skills remove ship-it')).code).toBe(0)
    expect(await cao('skills remove cao-worker-protocols')).toMatchObject({
      code: 4,
      err: expect.stringContaining('not removed') as unknown,
    })
  }, 60_000)

  test("upstream's home is read as it is: its skills, and its variables below ours", async () => {
    const theirs = join(world.world.env['HOME'] ?? '', '.aws', 'cli-agent-orchestrator')
    mkdirSync(join(theirs, 'skills', 'their-skill'), { recursive: true })
    writeFileSync(
      join(theirs, 'skills', 'their-skill', 'SKILL.md'),
      '---\nname: their-skill\ndescription: d\n---\nTheirs.\n',
    )
    writeFileSync(join(theirs, '.env'), 'DEPLOY_KEY=theirs\nTHEIR_NAME="x y"\n')
    expect((await cao('skills show their-skill')).out).toBe('Theirs.\n')
    const profile = join(world.world.layout.agentStoreDir, 'both.md')
    writeFileSync(profile, '---\nname: both\ndescription: d\n---\n${DEPLOY_KEY} ${THEIR_NAME} ${NOBODYS}\n')
    const id = await world.agent({ profile: 'both' })
    expect(world.transcript(id)[0]?.['systemPrompt']).toMatch(/^hunter2-hunter2 x y \$\{NOBODYS\}\n/)
    await world.client.shutdownAll()
  }, 60_000)

  test('the server starts with what settings.json says, and refuses what is wrong there by its name', async () => {
    await world.endServer('SIGTERM')
    const { settingsFile } = world.world.layout
    writeFileSync(settingsFile, '{"server": {"port": "high"}}')
    const refused = await world.run('cao-server', [], { env: { CAO_API_PORT: '' } })
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/server\.port in settings\.json takes a port/) as unknown,
    })
    writeFileSync(settingsFile, '{"server": {"port": "none"}, "logging": {"level": "error"}}')
    const lines = world.serverLog.length
    await world.startServer({ env: { CAO_API_PORT: '' } })
    expect(
      await until('its file', 5_000, () => JSON.parse(readFileSync(world.world.layout.serverFile, 'utf8')) as unknown),
    ).toMatchObject({
      tcp_port: null,
    })
    expect(world.serverLog.length).toBe(lines)
  }, 60_000)
})

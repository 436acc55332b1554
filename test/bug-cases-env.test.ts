/** Reported faults of environment and configuration (ENV, CF of docs/bug-cases.md), tried on ours. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { agentPid } from './incident.case.ts'
import { TestWorld } from './world.case.ts'

const scripted = { agent_profile: 'developer', provider: 'scripted' } as const

/** The environment that an agent's process really has. */
function envOf(world: TestWorld, id: string): Readonly<Record<string, string>> {
  const pairs = readFileSync(`/proc/${agentPid(world, id)}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean)
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

describe('the environment of whoever starts the server', () => {
  let world: TestWorld
  let person: string
  const personTmux = (...args: string[]) =>
    execFileSync('tmux', ['-f', '/dev/null', '-S', person, ...args], { env: world.world.env, encoding: 'utf8' })

  beforeAll(async () => {
    world = await TestWorld.open({ LANG: '', LC_ALL: '', LC_CTYPE: '' })
    const { folder, env } = world.world
    // A person whose tmux changes everything, and in which the server is started.
    const conf = [
      'set -g default-command "exec cat"',
      'set -g remain-on-exit on',
      'set -g base-index 7',
      'set-hook -g after-new-window "kill-pane"',
      'set-hook -g after-new-session "kill-session"',
      'bogus line',
    ]
    writeFileSync(join(env['HOME'] ?? '', '.tmux.conf'), `${conf.join('\n')}\n`)
    person = join(folder, 'person')
    personTmux('new-session', '-d', '-s', 'mine', 'sh')
    const pane = personTmux('display-message', '-p', '-t', 'mine', '#{socket_path},#{pid},0 #{pane_id}')
      .trim()
      .split(' ')
    const around = { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', CODEX_SANDBOX: 'x', GITHUB_TOKEN: 's3cret' }
    await world.startServer({ env: { ...around, TMUX: pane[0] ?? '', TMUX_PANE: pane[1] ?? '' } })
  }, 60_000)
  afterAll(async () => {
    personTmux('kill-server')
    await world[Symbol.asyncDispose]()
  }, 60_000)

  test('ENV-01: without a UTF-8 locale every glyph arrives, is shown and is told, and the status is true', async () => {
    const id = await world.agent()
    const glyphs = '❯ ⏺ ✻ 日本 é'
    await world.client.sendInput(id, { message: `reply ${glyphs}` })
    await world.waitForStatus(id, 'completed')
    expect((await world.client.readOutput(id, 'last')).output).toBe(glyphs)
    expect((await world.client.readOutput(id, 'screen')).output).toContain(glyphs)
    expect(world.accepted(id).at(-1)).toContain(glyphs)
    await world.client.deleteTerminal(id)
  }, 60_000)

  test('ENV-03: nothing of a surrounding agent or tmux, and no secret of another program, reaches an agent', async () => {
    const id = await world.agent()
    const names = Object.keys(envOf(world, id))
    expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'CAO_TERMINAL_ID']))
    expect(names.filter((name) => /^CLAUDECODE|^CLAUDE_CODE|^CODEX|^GITHUB|^TMUX(_PANE)?$/.test(name))).toEqual([])
    const global = world.tmux('show-environment', '-g')
    expect(global).not.toMatch(/CLAUDECODE|GITHUB_TOKEN|s3cret/)
    await world.client.deleteTerminal(id)
  }, 60_000)

  test("ENV-05, ENV-07: a person's tmux configuration changes nothing of ours, and their own windows stay as they were", async () => {
    const list = () =>
      personTmux('list-panes', '-a', '-F', '#{session_name} #{window_id} #{pane_id} #{pane_pid} #{window_name}')
    const before = list()
    const id = await world.agent({ session: 'one' })
    const more = await world.client.createTerminal('cao-one', scripted)
    await world.client.sendInput(more.id, { message: 'reply here' })
    await world.waitForStatus(more.id, 'completed')
    expect((await world.client.readOutput(more.id, 'last')).output).toBe('here')
    for (const each of [more.id, id]) await world.client.deleteTerminal(each)
    expect(list()).toBe(before)
  }, 60_000)

  test('CF-08: what a launch sets reaches the agent exactly, over an older value of tmux and of the server', async () => {
    world.tmux('set-environment', '-g', 'FOO', 'old')
    const env_vars = { FOO: 'new', BAR: `a b;c $X '"` }
    const { id } = await world.client.createSession({
      ...scripted,
      working_directory: world.world.projectDir,
      env_vars,
    })
    expect(envOf(world, id)).toMatchObject(env_vars)
    const plain = await world.agent()
    expect(Object.keys(envOf(world, plain))).not.toContain('BAR')
    for (const each of [id, plain]) await world.client.deleteTerminal(each)
  }, 60_000)
})

test('CF-02, CF-03: a byte order mark, a fence at the end of the file and rules in the body split a profile where they should', async () => {
  await using world = await TestWorld.open()
  const { agentStoreDir } = world.world.layout
  mkdirSync(agentStoreDir, { recursive: true, mode: 0o700 })
  const head = '---\nname: NAME\ndescription: "a: b"\n---'
  const write = (name: string, text: string) =>
    writeFileSync(join(agentStoreDir, `${name}.md`), text.replace('NAME', name))
  write('mark', `\uFEFF${head}\nText.\n`)
  write('short', head)
  write('rules', `${head}\nOne.\n\n---\n\n\`\`\`yaml\n---\nrole: boss\n---\n\`\`\`\n`)
  write('late', `\n${head}\nText.\n`)
  await world.startServer()
  const read = async (name: string) => {
    const { description, role, system_prompt } = await world.client.getProfile(name)
    return [description, role, system_prompt]
  }
  expect(await read('mark')).toEqual(['a: b', undefined, 'Text.'])
  expect(await read('short')).toEqual(['a: b', undefined, ''])
  expect(await read('rules')).toEqual(['a: b', undefined, 'One.\n\n---\n\n```yaml\n---\nrole: boss\n---\n```'])
  await expect(read('late')).rejects.toMatchObject({
    message: expect.stringMatching(/line 1, .* must begin with a line "---"/) as unknown,
  })
}, 60_000)

describe('CF-07: which CLI an agent is', () => {
  let world: TestWorld
  beforeEach(async () => {
    world = await TestWorld.open()
    const { agentStoreDir } = world.world.layout
    mkdirSync(agentStoreDir, { recursive: true, mode: 0o700 })
    // A provider that there is none of: the refusal shows that the profile was asked.
    writeFileSync(join(agentStoreDir, 'other.md'), '---\nname: other\nprovider: no_such_cli\n---\n')
    writeFileSync(join(agentStoreDir, 'ours.md'), '---\nname: ours\nprovider: scripted\n---\n')
  })
  afterEach(() => world[Symbol.asyncDispose](), 60_000)

  /** The provider that each way of launching chooses; `no_such_cli` by its refusal. */
  async function chosen(agent_profile: string, asked?: string): Promise<readonly string[]> {
    const provider = asked === undefined ? {} : { provider: asked }
    const boss = await world.agent()
    const session_name = (await world.client.getTerminal(boss)).session_name
    const job = { agent_profile, message: 'reply x', session_name, ...provider }
    const ways = [
      () => world.client.createSession({ agent_profile, ...provider }),
      () => world.client.createTerminal(session_name, { agent_profile, ...provider }),
      async () => {
        const { id } = await world.client.startJob({ kind: 'handoff', teardown: false, ...job })
        const ended = await world.client.getJob(id, 20)
        if (ended.terminal_id === null) throw new Error(ended.failure ?? 'no worker')
        return world.client.getTerminal(ended.terminal_id)
      },
    ]
    const found: string[] = []
    for (const way of ways) {
      const name = await way().then(
        (terminal) => terminal.provider,
        (error: unknown) => (/no provider is called "no_such_cli"/.test(String(error)) ? 'no_such_cli' : String(error)),
      )
      found.push(name)
    }
    await world.client.shutdownAll()
    return found
  }

  test('the launch says it, else the profile, else the option, on every way', async () => {
    await world.startServer({ env: { CAO_PROVIDER: 'no_such_cli' } })
    expect(await chosen('other', 'scripted')).toEqual(['scripted', 'scripted', 'scripted'])
    expect(await chosen('ours')).toEqual(['scripted', 'scripted', 'scripted'])
    expect(await chosen('other')).toEqual(['no_such_cli', 'no_such_cli', 'no_such_cli'])
    expect(await chosen('developer')).toEqual(['no_such_cli', 'no_such_cli', 'no_such_cli'])
    expect(await chosen('ours', 'no_such_cli')).toEqual(['no_such_cli', 'no_such_cli', 'no_such_cli'])
  }, 90_000)
})

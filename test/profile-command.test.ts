/** `cao profile` and `cao install` as a person runs them: the built programs, a server of their own. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { TestWorld } from './world.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

let world: TestWorld
let store: string
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
  store = world.world.layout.agentStoreDir
})
afterAll(() => world[Symbol.asyncDispose]())

const cao = (...args: readonly string[]) => world.run('cao', args)
const json = async (...args: readonly string[]) => JSON.parse((await cao(...args, '--json')).out) as unknown

test('a profile is made, checked, found, shown and removed', async () => {
  const names = ['--description', 'Runs tests: all of them', '--role', 'reviewer', '--tags', 'qa']
  const rest = ['--tools', 'fs_read, execute_bash', '--prompt', 'You run tests.']
  const made = await cao('profile', 'create', 'tester', ...names, ...rest)
  const file = join(store, 'tester.md')
  expect(made).toEqual({
    code: 0,
    out: `tester is installed\nfile      ${file}\nprovider  chosen at launch\ntools     fs_read, execute_bash\n`,
    err: '',
  })
  expect(readFileSync(file, 'utf8')).toBe(`---
name: tester
description: "Runs tests: all of them"
role: reviewer
allowedTools: ["fs_read", "execute_bash"]
tags: ["qa"]
---
You run tests.
`)
  expect(await cao('profile', 'validate', 'tester')).toEqual({ code: 0, out: 'tester can be launched\n', err: '' })
  expect((await cao('profile', 'list')).out).toMatch(/^NAME +SOURCE +ROLE +PROVIDER +DESCRIPTION\n/)
  const found = (await json('profile', 'find', 'qa tests', '--limit', '1')) as { name: string }[]
  expect(found.map(({ name }) => name)).toEqual(['tester'])
  expect((await cao('profile', 'search', 'xylophone')).out).toBe('no profile says so of itself\n')
  expect((await cao('profile', 'show', 'tester')).out).toContain(
    'description: Runs tests: all of them\nrole: reviewer\n',
  )
  expect(await json('profile', 'show', 'tester')).toMatchObject({ name: 'tester', system_prompt: 'You run tests.' })
  const again = await cao('profile', 'create', 'tester', '--prompt', 'x')
  expect([again.code, again.err]).toEqual([5, `Error: ${file} is there already; --force replaces it\n`])
  expect(await json('profile', 'remove', 'tester')).toEqual({ success: true, name: 'tester', file })
  expect((await cao('profile', 'remove', 'tester')).code).toBe(4)
  expect((await cao('profile', 'remove', 'developer')).err).toContain('which is not of this store')
})

test('what is wrong with a profile is said with its line, by its file or its name, and exit code 1', async () => {
  const bad = join(world.world.projectDir, 'bad.md')
  writeFileSync(bad, '---\nname: bad\nrole: boss\u001b[2J\n---\n')
  const said = await cao('profile', 'validate', bad)
  expect([said.code, said.out]).toEqual([
    1,
    expect.stringMatching(/^error: line \d+: .*\n.*bad.md can not be launched\n$/),
  ])
  expect(said.out).not.toContain('\u001b')
  mkdirSync(store, { recursive: true })
  writeFileSync(join(store, 'broken.md'), '---\nname: broken\nrole: boss\n---\n')
  const byName = await cao('profile', 'validate', 'broken')
  expect([byName.code, byName.out]).toEqual([
    1,
    'error: line 3: the field role must be one of developer, reviewer, supervisor, or left out, and is "boss"\nbroken can not be launched\n',
  ])
  expect((await cao('profile', 'list')).out).toMatch(/^broken .*NOT LOADABLE: /m)
  expect(await json('profile', 'validate', 'broken')).toMatchObject({ valid: false, messages: [{ path: 'role' }] })
  expect((await cao('profile', 'validate', 'nobody')).code).toBe(6)
})

test('a file is installed with its variables, and only over another when told to', async () => {
  const file = join(world.world.projectDir, 'mine.md')
  writeFileSync(file, '---\nname: mine\ndescription: d\nmodel: ${MODEL}\ncolour: red\n---\nHi ${WHO}.\n')
  const installed = await cao('install', file, '--env', 'MODEL=opus', '--provider', 'scripted')
  expect([installed.code, installed.out, installed.err]).toEqual([
    0,
    expect.stringMatching(
      /^mine is installed\nfile .*\nprovider +scripted\ntools +@builtin, fs_\*, .*\nno value yet +WHO\n$/,
    ),
    'Note: the field colour is not known and says nothing\nNote: ${WHO} has no value: set it with "cao env set WHO"\n',
  ])
  expect(readFileSync(world.world.layout.envFile, 'utf8')).toContain("MODEL='opus'")
  expect((await cao('install', file)).code).toBe(5)
  expect(await json('install', file, '--force')).toMatchObject({
    agent_name: 'mine',
    provider: null,
    source_kind: 'file',
  })
})

test('a launch says what of the profile is not served', async () => {
  writeFileSync(
    join(store, 'odd.md'),
    '---\nname: odd\ncodexConfig: {}\nmcpServers: { docs: { command: docs } }\n---\n',
  )
  const { code, err } = await cao(
    'launch',
    '--agents',
    'odd',
    '--provider',
    'scripted',
    '--allowed-tools',
    'fs_read',
    '--json',
  )
  expect([code, err]).toEqual([
    0,
    'of what its profile says, this is not enforced or not served: MCP server docs: left out, the allowed tools do not name @docs; codexConfig: only codex makes use of it\n',
  ])
})

test('a profile is made from a template, into the store or into a folder', async () => {
  const dir = world.world.projectDir
  writeFileSync(
    join(dir, 'lead.json'),
    JSON.stringify({ name: 'lead', description: 'd', goal: 'ship it', workers: ['py'] }),
  )
  expect((await cao('profile', 'templates')).out).toMatch(/^TEMPLATE +DESCRIPTION\nteam\/lead /)
  expect(await json('profile', 'templates', '-t', 'team/lead')).toMatchObject({
    required: ['name', 'description', 'goal'],
  })
  const made = await cao('profile', 'create', '-t', 'team/lead', '-c', 'lead.json')
  expect([made.code, made.err, made.out]).toEqual([
    0,
    '',
    expect.stringContaining('tools     @cao-mcp-server, fs_read, fs_list'),
  ])
  const written = await json('profile', 'create', '-t', 'team/lead', '-c', 'lead.json', '-o', 'out')
  expect(written).toEqual({ template: 'team/lead', file: join(dir, 'out', 'lead.md') })
  expect(readFileSync(join(dir, 'out', 'lead.md'), 'utf8')).toBe(readFileSync(join(store, 'lead.md'), 'utf8'))
  expect((await cao('profile', 'create', '-t', 'team/lead', '-c', 'lead.json', '-o', 'out')).code).toBe(5)
  writeFileSync(join(dir, 'bad.json'), '{"name": "x"}')
  const bad = await cao('profile', 'create', '-t', 'team/lead', '-c', 'bad.json')
  expect([bad.code, bad.err]).toEqual([
    2,
    expect.stringContaining('the config of team/lead is not good: description: '),
  ])
})

test.each([
  [['install'], 2, 'SOURCE is missing'],
  [['install', 'http://localhost/x.md'], 2, 'only https:// is fetched'],
  [['install', 'https://evil.example/x.md'], 2, 'evil.example is not among the hosts that profiles come from'],
  [['install', 'https://github.com/../x.md'], 2, 'the path of a profile is'],
  [['install', './nowhere.md'], 2, 'there is no file'],
  [['install', 'a b'], 2, 'a file is named with its path'],
  [['install', 'nobody'], 6, 'no profile is called nobody'],
  [['install', 'developer', '--provider', 'nobody'], 6, 'no provider is called "nobody"'],
  [['install', 'developer', '--env', 'A-B=1'], 2, '--env takes KEY=VALUE'],
  [['profile'], 2, 'name one of list, show'],
  [['profile', 'toString'], 2, '"toString" is none of list'],
  [['profile', 'show', '../x'], 2, 'is no name of a profile'],
  [['profile', 'show', 'nobody'], 4, 'no profile is called nobody'],
  [['profile', 'search', 'x', '--limit', '0'], 2, '--limit'],
  [['profile', 'create', '-t', 'team/lead'], 2, '--template needs --config FILE'],
  [['profile', 'create', '-t', 'team/nobody', '-c', 'nowhere.json'], 2, 'there is no file'],
  [['profile', 'create', 'new', '-o', 'x', '--prompt', 'x'], 2, '--out needs --template'],
  [['profile', 'create', 'new', '--role', 'boss', '--prompt', 'x'], 6, 'the field role must be one of'],
] as const)('cao %j is refused with a sentence and exit code %i', async (args, code, sentence) => {
  const ran = await cao(...args)
  expect([ran.code, ran.out, ran.err]).toEqual([code, '', expect.stringContaining(sentence)])
  expect(ran.err.startsWith('Error: ')).toBe(true)
})

test('a link, a folder and what is too large are no profile to install', async () => {
  const dir = world.world.projectDir
  mkdirSync(join(dir, 'folder.md'))
  writeFileSync(join(dir, 'large.md'), `---\nname: large\n---\n${'x'.repeat(262_144)}`)
  symlinkSync('/dev/zero', join(dir, 'zero.md'))
  for (const name of ['folder', 'large', 'zero']) {
    const { code, err } = await cao('install', join(dir, `${name}.md`))
    expect([code, err.startsWith('Error: ')]).toEqual([2, true])
  }
})

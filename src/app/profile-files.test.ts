import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import type { ProfileRules } from '../domain/profile.ts'
import { parseProfile } from './parse-profile.ts'
import { createProfileFiles, profileBytesMax } from './profile-files.ts'

const builtInDir = join(import.meta.dirname, '..', '..', 'profiles')
let dir: string
let store: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-profiles-'))
  store = join(dir, 'agent-store')
  await mkdir(store)
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

/** Stores as those of a home, its settings aside. */
const open = (rules: ProfileRules = { roles: {}, variables: {} }) =>
  createProfileFiles({
    stores: async () => [
      { dir: store, label: 'local', isNested: false, isBuiltIn: false },
      { dir: join(dir, 'absent'), label: 'upstream', isNested: false, isBuiltIn: false },
      { dir: join(dir, 'more'), label: 'custom', isNested: true, isBuiltIn: false },
      { dir: builtInDir, label: 'built-in', isNested: false, isBuiltIn: true },
    ],
    rules: async () => rules,
  })
const write = (name: string, text: string) => writeFile(join(store, `${name}.md`), text)

async function refusal(name: string): Promise<{ code: string; message: string }> {
  try {
    await open().load(name)
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message.replaceAll(dir, 'DIR') }
    throw error
  }
  throw new Error(`${name} was loaded`)
}

describe('loading', () => {
  test('the built-in profiles are three, each with its role and a prompt that names the tools', async () => {
    const profiles = await open().list()
    expect(profiles.map(({ name, role, source }) => ({ name, role, source }))).toEqual([
      { name: 'code_supervisor', role: 'supervisor', source: 'built-in' },
      { name: 'developer', role: 'developer', source: 'built-in' },
      { name: 'reviewer', role: 'reviewer', source: 'built-in' },
    ])
    for (const { name } of profiles) {
      const { systemPrompt } = await open().load(name)
      for (const tool of ['handoff', 'send_message']) expect(systemPrompt).toContain(tool)
    }
  })

  test("a person's profile comes before the built-in one of the same name", async () => {
    await write('developer', '---\nname: developer\ndescription: mine\n---\nDo it my way.\n')
    const profile = await open().load('developer')
    expect(profile.source).toBe(join(store, 'developer.md'))
    expect((await open().list()).find(({ name }) => name === 'developer')?.description).toBe('mine')
  })

  test('every field of upstream is read, and those that nobody knows are named', async () => {
    await write(
      'full',
      `\uFEFF---\r\nname: full
description: All of it
role: reviewer
provider: opencode_cli
model: some/model
permissionMode: plan
allowedTools: [fs_read, "@cao-mcp-server"]
capabilities: [read]
tags: [a, b]
provider_init_timeout: 12.5
mcpServers:
  docs: { command: npx, args: ["-y", docs], env: { KEY: "1" }, timeout: 5000 }
  plain: { type: stdio, command: plain }
  far: { type: sse, url: "https://mcp.example/sse", headers: { Authorization: x } }
skills: ["ads-*"]
engine: kas
prompt: file://prompt.md
native_agent: mine
container: { path_maps: [{ host: /srv, guest: /mnt }] }
claudeConfig: { effort: high, fallback_model: sonnet }
codexProfile: fast
codexConfig: { anything: [1, 2] }
hermesProfile: h
grokNativeWorkflows: true
tools: ["*"]
toolAliases: { a: b }
toolsSettings: { x: { y: 1 } }
resources: ["file://README.md"]
useLegacyMcpJson: false
hooks:
colour: red
toString: 1
---
  The prompt.

---
More of it.
`,
    )
    expect(await open().load('full')).toEqual({
      name: 'full',
      description: 'All of it',
      role: 'reviewer',
      provider: 'opencode_cli',
      model: 'some/model',
      permissionMode: 'plan',
      allowedTools: ['fs_read', '@cao-mcp-server'],
      capabilities: ['read'],
      tags: ['a', 'b'],
      mcpServers: {
        docs: { command: 'npx', args: ['-y', 'docs'], env: { KEY: '1' }, timeoutMs: 5_000 },
        plain: { command: 'plain', args: [], env: {} },
        far: { url: 'https://mcp.example/sse', transport: 'sse', headers: { Authorization: 'x' } },
      },
      skills: ['ads-*'],
      startupLimitMs: 12_500,
      roleTools: ['@builtin', 'fs_read', 'fs_list', '@cao-mcp-server'],
      extras: {
        engine: 'kas',
        prompt: 'file://prompt.md',
        native_agent: 'mine',
        container: { pathMaps: [{ host: '/srv', guest: '/mnt' }] },
        claudeConfig: { effort: 'high', fallbackModel: 'sonnet' },
        codexProfile: 'fast',
        codexConfig: { anything: [1, 2] },
        hermesProfile: 'h',
        grokNativeWorkflows: true,
        tools: ['*'],
        toolAliases: { a: 'b' },
        toolsSettings: { x: { y: 1 } },
        resources: ['file://README.md'],
        useLegacyMcpJson: false,
      },
      unknownFields: ['colour', 'toString'],
      unresolvedVariables: [],
      systemPrompt: 'The prompt.\n\n---\nMore of it.',
      source: join(store, 'full.md'),
    })
  })
})

describe('refusing', () => {
  test('an unknown name is answered with the names there are and where to put a new one', async () => {
    await write('mine', '---\nname: mine\n---\n')
    expect(await refusal('nobody')).toEqual({
      code: 'PROFILE_UNKNOWN',
      message:
        'no profile is called nobody; there are: code_supervisor, developer, mine, reviewer. A profile of your own is a file NAME.md in DIR/agent-store.',
    })
  })

  test.each(['../secret', 'a/b', '', '.', 'x'.repeat(65), 'a\u0000b'])(
    '%j is no name and opens no file',
    async (name) => {
      await writeFile(join(dir, 'secret.md'), '---\nname: secret\n---\n')
      expect((await refusal(name)).code).toBe('PROFILE_UNKNOWN')
    },
  )

  test('a link that leads out of the store is refused', async () => {
    await writeFile(join(dir, 'secret.md'), '---\nname: out\n---\n')
    await symlink(join(dir, 'secret.md'), join(store, 'out.md'))
    expect(await refusal('out')).toMatchObject({
      code: 'PROFILE_INVALID',
      message: expect.stringMatching(/leads out of its folder/),
    })
  })

  test.each([
    ['no front matter', 'Just text\n', 'line 1, can not be used: it must begin with a line "---"'],
    ['no end', '---\nname: p\n', 'line 1, can not be used: its front matter has no end'],
    ['not YAML', '---\nname: p\nrole: [a\n---\n', 'can not be used: its front matter is not YAML'],
    ['a list', '---\n- a\n---\n', 'line 2, can not be used: its front matter must be a list of fields'],
    [
      'another name',
      '---\n\nname: q\n---\n',
      'line 3, can not be used: the field name must be "p", as the file is called',
    ],
    ['an unknown role', '---\nname: p\nrole: boss\n---\n', 'line 3, can not be used: the field role must be one of'],
    ['a number as text', '---\nname: p\nmodel: 4\n---\n', 'line 3, can not be used: the field model must be a text'],
    [
      'tools as text',
      '---\nallowedTools: all\n---\n',
      'line 2, can not be used: the field allowedTools must be a list',
    ],
    ['too many tags', `---\ntags: [${'a,'.repeat(33)}]\n---\n`, 'the field tags must have at most 32 items'],
    [
      'a limit of 0',
      '---\nprovider_init_timeout: 0\n---\n',
      'the field provider_init_timeout must be a number of seconds',
    ],
    [
      'a server of nothing',
      '---\nmcpServers: {a: {args: []}}\n---\n',
      'the field mcpServers.a.command must be the program',
    ],
    ['a server by a file', '---\nmcpServers: {a: {url: "file:///x"}}\n---\n', 'the field mcpServers.a.url must begin'],
    ['a server twice', '---\nmcpServers: {a: {url: "https://x", command: x}}\n---\n', 'must have a command or a url'],
    ['a tag of two words', '---\ntags: ["a b"]\n---\n', 'the field tags must have items that match'],
    ['an odd claudeConfig', '---\nclaudeConfig: {speed: 1}\n---\n', 'the field claudeConfig.speed is not known there'],
    [
      'half a path map',
      '---\ncontainer: {path_maps: [{host: x}]}\n---\n',
      'container.path_maps[0].guest must be a text',
    ],
    ['a flag as text', '---\ngrokNativeWorkflows: maybe\n---\n', 'must be true or false'],
    [
      'a number in env',
      '---\nmcpServers: {a: {command: x, env: {N: 1}}}\n---\n',
      'the field mcpServers.a.env must map',
    ],
    ['aliases', '---\ntags: &t [a]\ncapabilities: *t\n---\n', 'uses YAML aliases'],
    ['the same field twice', '---\nmodel: a\nmodel: b\n---\n', 'line 3, can not be used: its front matter is not YAML'],
  ])('a file with %s is refused by file, line and field', async (_what, text, complaint) => {
    await write('p', text)
    const { code, message } = await refusal('p')
    expect(code).toBe('PROFILE_INVALID')
    expect(message).toContain('the profile DIR/agent-store/p.md, ')
    expect(message).toContain(complaint)
  })

  test('a file that is too large, a folder and an unreadable file are refused', async () => {
    await write('large', `---\nname: large\n---\n${'x'.repeat(profileBytesMax)}`)
    await mkdir(join(store, 'folder.md'))
    expect(await refusal('large')).toMatchObject({
      code: 'PROFILE_INVALID',
      message: expect.stringMatching(/larger than 256 KiB/),
    })
    expect(await refusal('folder')).toMatchObject({
      code: 'PROFILE_INVALID',
      message: expect.stringMatching(/is not a file/),
    })
    await write('closed', '---\nname: closed\n---\n')
    await chmod(join(store, 'closed.md'), 0)
    // Root reads everything, so that only others see the refusal.
    if (process.getuid?.() !== 0)
      expect(await refusal('closed')).toMatchObject({ message: expect.stringMatching(/EACCES/) })
  })

  test('a file with a fault is listed with it and hides no other', async () => {
    await write('bad', 'no front matter')
    await write('good', '---\nname: good\n---\n')
    await symlink(join(dir, 'nowhere'), join(store, 'dangling.md'))
    await writeFile(join(store, 'latin.md'), Buffer.from('---\nname: latin\n---\ncaf\u00e9', 'latin1'))
    const listed = (await open().list()).map(({ name, fault }) => [name, fault?.replaceAll(dir, 'DIR')])
    expect(listed).toEqual([
      ['bad', expect.stringMatching(/^the profile DIR\/agent-store\/bad.md, line 1, can not be used: it must begin/)],
      ['code_supervisor', undefined],
      ['dangling', expect.stringMatching(/^no profile is called dangling/)],
      ['developer', undefined],
      ['good', undefined],
      ['latin', 'DIR/agent-store/latin.md is not UTF-8: save it in that encoding'],
      ['reviewer', undefined],
    ])
  })
})

test('the front matter ends at the first fence, with or without a line after it', async () => {
  await write('p', '---\ndescription: "a: b"\n---')
  expect(await open().load('p')).toMatchObject({ description: 'a: b', systemPrompt: '' })
  await write('p', '---\nrole: reviewer\n---\nOne\n---\nrole: supervisor\n---\n')
  expect(await open().load('p')).toMatchObject({ role: 'reviewer', systemPrompt: 'One\n---\nrole: supervisor\n---' })
  await write('p', '\n---\nrole: reviewer\n---\n')
  expect((await refusal('p')).message).toContain('it must begin with a line "---"')
})

test('any text is a profile or is refused by its file, and nothing else happens', () => {
  const rules = { roles: {}, variables: { A: 'x' } }
  const line = fc.oneof(
    fc.constantFrom(
      '---',
      'name: p',
      'role: [',
      'tags: {a: 1}',
      'mcpServers: {a: {url: 3}}',
      'hooks: &a',
      'x: *a',
      '${A}: ${A}',
    ),
    fc.constantFrom(
      '? [a]: b',
      'toString: 1',
      '__proto__: {role: x}',
      'allowedTools: null',
      '!!js/function x',
      'a: 1e999',
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lines, isFenced) => {
      const text = isFenced ? `---\n${lines.join('\n')}\n---\nBody` : lines.join('\n')
      try {
        expect(parseProfile({ name: 'p', text, file: 'p.md', source: '' }, rules).name).toBe('p')
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
        expect((error as AppError).code).toBe('PROFILE_INVALID')
      }
    }),
    { numRuns: 1_000 },
  )
})

describe('variables', () => {
  const rules = { roles: {}, variables: { KEY: 'a: b # "c"', MODEL: 'opus', LIMIT: '90' } }
  const text = `---
name: p
model: \${MODEL}
provider_init_timeout: \${LIMIT}
mcpServers: { docs: { command: \${HOME_OF_TOOLS}/docs, args: [--key, \${KEY}], env: { KEY: \${KEY} } } }
---
Say \${MODEL}, not $MODEL.
`

  test('stand wherever a value may, and what one holds is never read as YAML', async () => {
    await write('p', text)
    expect(await open(rules).load('p')).toMatchObject({
      model: 'opus',
      startupLimitMs: 90_000,
      mcpServers: {
        docs: { command: '${HOME_OF_TOOLS}/docs', args: ['--key', 'a: b # "c"'], env: { KEY: 'a: b # "c"' } },
      },
      systemPrompt: 'Say opus, not $MODEL.',
      unresolvedVariables: ['HOME_OF_TOOLS'],
    })
  })

  test('are only named to somebody who looks at the profile', async () => {
    await write('p', text)
    expect(await open(rules).inspect('p')).toMatchObject({
      model: '${MODEL}',
      startupLimitMs: 90_000,
      mcpServers: { docs: { args: ['--key', '${KEY}'] } },
      systemPrompt: 'Say ${MODEL}, not $MODEL.',
    })
  })
})

describe('stores', () => {
  test('a role of the settings is one like ours, but can not replace one of ours', async () => {
    await write('p', '---\nrole: analyst\n---\n')
    await write('q', '---\nrole: reviewer\n---\n')
    const rules = { roles: { analyst: ['fs_read'], reviewer: ['*'] }, variables: {} }
    expect((await open(rules).load('p')).roleTools).toEqual(['fs_read'])
    expect((await open(rules).load('q')).roleTools).toContain('fs_list')
    await write('p', '---\nrole: toString\n---\n')
    expect((await refusal('p')).message).toContain('must be one of developer, reviewer, supervisor, or left out')
  })

  test('where several have a name the first wins, and the list names the others', async () => {
    await mkdir(join(dir, 'more', 'developer'), { recursive: true })
    await writeFile(join(dir, 'more', 'developer', 'agent.md'), '---\nname: developer\n---\n')
    await mkdir(join(dir, 'more', 'nested'))
    await writeFile(join(dir, 'more', 'nested', 'agent.md'), '---\nname: nested\n---\nHello.\n')
    await mkdir(join(dir, 'more', 'empty'))
    await write('reviewer', '---\nname: reviewer\n---\n')
    const listed = (await open().list()).map(({ name, source, duplicatedIn }) => [name, source, duplicatedIn])
    expect(listed).toEqual([
      ['code_supervisor', 'built-in', []],
      ['developer', 'custom', ['built-in']],
      ['nested', 'custom', []],
      ['reviewer', 'local', ['built-in']],
    ])
    expect((await open().load('nested')).systemPrompt).toBe('Hello.')
  })
})

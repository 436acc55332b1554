import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
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

const open = () => createProfileFiles({ builtInDir, storeDirs: [store, join(dir, 'absent')] })
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
    for (const { systemPrompt } of profiles) {
      for (const tool of ['handoff', 'send_message']) expect(systemPrompt).toContain(tool)
    }
  })

  test("a person's profile comes before the built-in one of the same name", async () => {
    await write('developer', '---\nname: developer\ndescription: mine\n---\nDo it my way.\n')
    const profile = await open().load('developer')
    expect(profile.source).toBe(join(store, 'developer.md'))
    expect((await open().list()).find(({ name }) => name === 'developer')?.description).toBe('mine')
  })

  test('every field is read, and those of upstream that CAO does not use are let pass', async () => {
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
  docs: { command: npx, args: ["-y", docs], env: { KEY: "1" } }
  plain: { command: plain }
codexConfig: { anything: [1, 2] }
hooks:
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
        docs: { command: 'npx', args: ['-y', 'docs'], env: { KEY: '1' } },
        plain: { command: 'plain', args: [], env: {} },
      },
      startupLimitMs: 12_500,
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
    ['a server by URL', '---\nmcpServers: {a: {url: x}}\n---\n', 'the field mcpServers.a.command must be the program'],
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

  test('a file with a fault does not hide the others from the list', async () => {
    await write('bad', 'no front matter')
    await write('good', '---\nname: good\n---\n')
    expect((await open().list()).map(({ name }) => name)).toEqual(['code_supervisor', 'developer', 'good', 'reviewer'])
  })
})

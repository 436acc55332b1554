/** Skills on a real disk: read, listed, added, removed; and what must not get in or out. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { skillBytesMax } from './read-skill.ts'
import { createSkillFiles, type SkillFiles } from './skill-files.ts'
import { addSkill, removeSkill, skillFilesMax } from './skill-store.ts'

let dir: string
let own: string
let builtIn: string
let skills: SkillFiles
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cao-skills-'))
  own = join(dir, 'home', 'skills')
  builtIn = join(dir, 'built-in')
  skills = createSkillFiles({ storeDirs: [own, join(dir, 'other')], builtInDir: builtIn })
})
afterEach(() => rm(dir, { recursive: true }))

const text = (name: string, description = `about ${name}`, body = `The text of ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`

async function write(store: string, name: string, content = text(name)): Promise<string> {
  const folder = join(store, name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'SKILL.md'), content)
  return folder
}

const refusal = (act: Promise<unknown>, code: string, words: RegExp) =>
  expect(act).rejects.toMatchObject({ code, message: expect.stringMatching(words) as unknown })

describe('reading', () => {
  test('the first store that has the name wins, and the list tells whose it is', async () => {
    await write(builtIn, 'review', text('review', 'the built-in one'))
    await write(builtIn, 'plan')
    const mine = await write(own, 'review', text('review', 'mine', 'My text.'))
    expect(await skills.load('review')).toEqual({ name: 'review', description: 'mine', content: 'My text.', dir: mine })
    expect((await skills.list()).map(({ name, isBuiltIn, fault }) => ({ name, isBuiltIn, fault }))).toEqual([
      { name: 'plan', isBuiltIn: true, fault: undefined },
      { name: 'review', isBuiltIn: false, fault: undefined },
    ])
  })

  test('a byte order mark, a rule in the text and a missing last newline change nothing', async () => {
    await write(own, 'odd', `\uFEFF---\nname: odd\ndescription: "a: b"\n---\nfirst\n---\nlast`)
    expect(await skills.load('odd')).toMatchObject({ description: 'a: b', content: 'first\n---\nlast' })
  })

  test('one that is wrong says what is wrong and hides no other', async () => {
    await write(own, 'good')
    const wrong = [
      ['bare', 'no front matter', /must begin with a line "---"/],
      ['later', `\n${text('later')}`, /must begin with a line "---"/],
      ['broken', '---\nname: [\n---\n', /is not YAML/],
      ['list', '---\n- a\n---\n', /without fields/],
      ['other-name', text('another'), /must have "name: other-name"/],
      ['silent', '---\nname: silent\n---\nx\n', /must have a description/],
      ['wordy', text('wordy', 'x'.repeat(2_000)), /more than 1024 characters/],
    ] as const
    for (const [name, content, words] of wrong) {
      await write(own, name, content)
      await refusal(skills.load(name), 'BAD_REQUEST', words)
    }
    await write(own, 'long', text('long', 'a', 'x'.repeat(skillBytesMax)))
    await refusal(skills.load('long'), 'TOO_LARGE', /more than \d+ bytes/)
    await mkdir(join(own, 'empty'))
    const listed = await skills.list()
    expect(listed.filter(({ fault }) => fault === undefined).map(({ name }) => name)).toEqual(['good'])
    expect(listed.filter(({ fault }) => fault !== undefined)).toHaveLength(wrong.length + 1)
  })

  test('a name that is a path is refused before anything is read, and an unknown one names those there are', async () => {
    await write(own, 'good')
    await writeFile(join(dir, 'home', 'SKILL.md'), text('home'))
    for (const name of ['..', '../home', 'good/../good', '/etc', '', '.', 'a b', 'x'.repeat(65), 'good\0']) {
      await refusal(skills.load(name), 'BAD_REQUEST', /is no name of a skill/)
    }
    await refusal(skills.load('goood'), 'NOT_FOUND', /no skill is called goood; there are: good$/)
  })

  test('a link that leads out of the store is refused, as a folder and as a file', async () => {
    const secret = await write(join(dir, 'elsewhere'), 'secret')
    await mkdir(join(own, 'file'), { recursive: true })
    await symlink(join(secret, 'SKILL.md'), join(own, 'file', 'SKILL.md'))
    await symlink(secret, join(own, 'secret'))
    await symlink('loop', join(own, 'loop'))
    await refusal(skills.load('secret'), 'BAD_REQUEST', /leads out of/)
    await refusal(skills.load('file'), 'BAD_REQUEST', /leads out of/)
    await refusal(skills.load('loop'), 'NOT_FOUND', /no skill is called loop/)
  })
})

describe('our own store', () => {
  test('takes a folder with all its files, private, and gives it up again', async () => {
    const from = await write(join(dir, 'work'), 'deploy')
    await mkdir(join(from, 'scripts'))
    await writeFile(join(from, 'scripts', 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
    expect(await addSkill(own, from, false)).toMatchObject({ name: 'deploy', dir: join(own, 'deploy') })
    expect((await stat(join(own, 'deploy', 'scripts', 'run.sh'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(own, 'deploy', 'SKILL.md'))).mode & 0o777).toBe(0o600)
    expect(await readdir(own)).toEqual(['deploy'])
    await removeSkill(own, 'deploy')
    expect(await readdir(own)).toEqual([])
    await refusal(removeSkill(own, 'deploy'), 'NOT_FOUND', /built-in skills .* are not removed/)
    await refusal(removeSkill(own, '..'), 'BAD_REQUEST', /is no name of a skill/)
    expect((await stat(from)).isDirectory()).toBe(true)
  })

  test('keeps what it has unless it is told to replace it', async () => {
    await addSkill(own, await write(join(dir, 'one'), 'plan', text('plan', 'first')), false)
    const second = await write(join(dir, 'two'), 'plan', text('plan', 'second'))
    await refusal(addSkill(own, second, false), 'CONFLICT', /--force replaces it/)
    expect(await skills.load('plan')).toMatchObject({ description: 'first' })
    await addSkill(own, second, true)
    expect(await skills.load('plan')).toMatchObject({ description: 'second' })
    expect(await readdir(own)).toEqual(['plan'])
  })

  test('takes nothing that is no skill, holds a link, or is too much, and leaves nothing of it', async () => {
    await mkdir(join(dir, 'no-skill'))
    await refusal(addSkill(own, join(dir, 'no-skill'), false), 'BAD_REQUEST', /has no file SKILL\.md/)
    await refusal(addSkill(own, join(dir, 'nothing'), false), 'BAD_REQUEST', /there is no folder/)
    const linked = await write(dir, 'linked')
    await symlink('/etc/passwd', join(linked, 'data'))
    await refusal(addSkill(own, linked, false), 'BAD_REQUEST', /is no file and no folder/)
    const many = await write(dir, 'many')
    for (let index = 0; index < skillFilesMax; index++) await writeFile(join(many, `${index}`), '')
    await refusal(addSkill(own, many, false), 'TOO_LARGE', /at most 500 files and 16 MiB/)
    expect(await readdir(own)).toEqual([])
  })
})

test('the built-in skills can be loaded, and say when they are needed in one line', async () => {
  const place = join(import.meta.dirname, '..', '..', 'skills')
  const listed = await createSkillFiles({ storeDirs: [], builtInDir: place }).list()
  expect(listed.map(({ name, fault }) => [name, fault])).toEqual([
    ['cao-supervisor-protocols', undefined],
    ['cao-worker-protocols', undefined],
  ])
  for (const { dir: folder } of listed)
    expect((await readFile(join(folder, 'SKILL.md'), 'utf8')).length).toBeGreaterThan(500)
})

import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { layoutOf } from '../protocol/home.ts'
import { findServer } from './find-server.ts'
import { describeHomeFault, refuseBadHome } from './home-fault.ts'
import { prepareHome } from './prepare-home.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cao-home-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function refusal(act: () => unknown): Promise<string> {
  try {
    await act()
  } catch (error) {
    if (error instanceof AppError && error.code === 'BAD_REQUEST') return error.message.replaceAll(folder, 'FOLDER')
    throw error
  }
  return ''
}

test('a home with control characters or a path that no database takes is refused before anything is read', async () => {
  for (const name of ['a\nb', 'a\tb', 'a\u001b[0m']) {
    const sentence = await refusal(() => findServer(layoutOf(`/tmp/${name}`), systemClock))
    expect(sentence).toMatch(/^the home "\/tmp\/a\\.*" has control characters in its path; choose another/)
    expect(sentence).not.toMatch(/\p{Cc}/u)
  }
  const longest = `/${'x'.repeat(489)}`
  expect(await refusal(() => refuseBadHome(layoutOf(longest)))).toBe('')
  expect(await refusal(() => refuseBadHome(layoutOf(`${longest}x`)))).toMatch(
    /^the path of the home has 491 bytes, and 490 are the most .*; choose another folder by CAO_HOME$/,
  )
})

test('a home that can not be made is one sentence with the folder, the reason and the cure', async () => {
  await writeFile(join(folder, 'file'), '')
  await symlink('circle', join(folder, 'circle'))
  await mkdir(join(folder, 'half', 'home'), { recursive: true })
  await writeFile(join(folder, 'half', 'home', 'logs'), '')
  const prepare = (path: string) => refusal(() => prepareHome(layoutOf(path)))
  expect([
    await prepare(join(folder, 'file')),
    await prepare(join(folder, 'file', 'below')),
    await prepare(join(folder, 'circle', 'below')),
    await prepare(join(folder, 'half', 'home')),
    await prepare('/proc/no-such-folder/home'),
  ]).toEqual([
    'the home FOLDER/file can not be used: a file stands where a folder has to be (EEXIST); choose another folder by CAO_HOME',
    'the home FOLDER/file/below can not be used: a file stands where a folder has to be (ENOTDIR); choose another folder by CAO_HOME',
    'the home FOLDER/circle/below can not be used: its symbolic links go in a circle (ELOOP); choose another folder by CAO_HOME',
    'the home FOLDER/half/home can not be used: a file stands where a folder has to be at FOLDER/half/home/logs (EEXIST); choose another folder by CAO_HOME',
    expect.stringMatching(
      /^the home \/proc\/no-such-folder\/home can not be used: .*choose another folder by CAO_HOME$/,
    ),
  ])
})

test('what a server needs of a home is made, for its user only', async () => {
  const layout = layoutOf(join(folder, 'deep', 'home'))
  await prepareHome(layout)
  await prepareHome(layout)
  for (const dir of [layout.home, layout.runDir, layout.logsDir]) expect((await stat(dir)).mode & 0o777).toBe(0o700)
})

test('each refusal of the system that a home can meet has its reason, and a full disk its own code', () => {
  for (const code of ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOENT', 'ELOOP', 'ENAMETOOLONG']) {
    expect(describeHomeFault(code, { home: '/h' })).toMatchObject({ code: 'BAD_REQUEST' })
  }
  expect(describeHomeFault('ENOSPC', { home: '/h' })).toMatchObject({ code: 'STORAGE_FULL' })
  expect(describeHomeFault('EMFILE', { home: '/h' })).toBeUndefined()
})

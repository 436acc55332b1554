/** Adds and removes skills of our own store, `CAO_HOME/skills`: a folder is there whole or not at all. */
import { randomBytes } from 'node:crypto'
import { chmod, copyFile, lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { badName, readSkill, type Skill, skillNamePattern } from './read-skill.ts'

/** Of one skill. */
export const skillFilesMax = 500
/** Units: bytes. */
export const skillFolderBytesMax = 16 * 1_024 * 1_024
const depthMax = 8

/**
 * Copies the folder `from` into the store; its name is the skill's. Errors: BAD_REQUEST for what is no skill, CONFLICT when
 * there is one of this name and `isReplaced` is false, TOO_LARGE.
 */
export async function addSkill(storeDir: string, from: string, isReplaced: boolean): Promise<Skill> {
  const source = await realpath(from).catch((cause: unknown) => {
    throw new AppError('BAD_REQUEST', `there is no folder ${from}`, { cause })
  })
  const name = basename(source)
  if (!skillNamePattern.test(name)) throw new AppError('BAD_REQUEST', badName(name))
  if ((await readSkill(join(source, '..'), name)) === undefined) {
    throw new AppError('BAD_REQUEST', `${from} is no skill: it has no file SKILL.md`)
  }
  await mkdir(storeDir, { recursive: true, mode: 0o700 })
  const target = join(storeDir, name)
  const isThere = (await kindOf(target)) !== undefined
  if (isThere && !isReplaced) {
    throw new AppError('CONFLICT', `there is a skill ${name} already; --force replaces it`)
  }
  const mark = randomBytes(4).toString('hex')
  const fresh = join(storeDir, `.${mark}.new`)
  const old = join(storeDir, `.${mark}.old`)
  try {
    await copyFolder(source, fresh, { files: 0, bytes: 0, depth: 0 })
    if (isThere) await rename(target, old)
    await rename(fresh, target)
  } finally {
    await Promise.all([fresh, old].map((path) => rm(path, { recursive: true, force: true })))
  }
  const added = await readSkill(storeDir, name)
  if (added === undefined) throw new AppError('INTERNAL', `the skill ${name} was copied and is not there`)
  return added
}

/** Errors: BAD_REQUEST for a bad name, NOT_FOUND. */
export async function removeSkill(storeDir: string, name: string): Promise<void> {
  if (!skillNamePattern.test(name)) throw new AppError('BAD_REQUEST', badName(name))
  const path = join(storeDir, name)
  if ((await kindOf(path)) === undefined) {
    const hint =
      'built-in skills and those of other folders are not removed; one of your own with the same name replaces them'
    throw new AppError('NOT_FOUND', `there is no skill ${name} in ${storeDir}; ${hint}`)
  }
  // Of a link the link goes, never what it leads to.
  await rm(path, { recursive: true, force: true })
}

type Copied = { files: number; bytes: number; readonly depth: number }

/** Files and folders only: a link could take something in that was not meant. Errors: BAD_REQUEST, TOO_LARGE. */
async function copyFolder(from: string, to: string, copied: Copied): Promise<Copied> {
  if (copied.depth > depthMax) throw new AppError('TOO_LARGE', `${from} lies too deep: ${depthMax} folders at most`)
  await mkdir(to, { mode: 0o700 })
  let { files, bytes } = copied
  for (const name of await readdir(from)) {
    const path = join(from, name)
    const stat = await lstat(path)
    if (stat.isDirectory()) {
      ;({ files, bytes } = await copyFolder(path, join(to, name), { files, bytes, depth: copied.depth + 1 }))
      continue
    }
    if (!stat.isFile())
      throw new AppError('BAD_REQUEST', `${path} is no file and no folder; a skill holds nothing else`)
    files += 1
    bytes += stat.size
    if (files > skillFilesMax || bytes > skillFolderBytesMax) {
      const most = `${skillFilesMax} files and ${skillFolderBytesMax / 1_024 / 1_024} MiB`
      throw new AppError('TOO_LARGE', `a skill has at most ${most}`)
    }
    await copyFile(path, join(to, name))
    await chmod(join(to, name), (stat.mode & 0o100) === 0 ? 0o600 : 0o700)
  }
  return { files, bytes, depth: copied.depth }
}

async function kindOf(path: string): Promise<'folder' | 'other' | undefined> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * One skill: a folder NAME with a file SKILL.md, which begins with a front matter (`name`, `description`) and goes on with
 * what an agent is taught. The folder may hold more files, which the text names. A name is checked before it becomes a path,
 * and a folder or file that is a link out of its store is refused: a skill's name may come from an agent.
 */
import { realpath } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import { AppError } from '../domain/errors.ts'
import { readPrivateFile } from './private-file.ts'

export const skillNamePattern = /^[A-Za-z0-9_-]{1,64}$/
export const skillFile = 'SKILL.md'
/** A longer text is a mistake, not a skill. Units: bytes. */
export const skillBytesMax = 256 * 1_024
/** What a list shows of it is one line. Units: characters. */
export const descriptionLengthMax = 1_024

export type Skill = {
  readonly name: string
  /** One line: when an agent needs it. */
  readonly description: string
  /** What stands below the front matter. */
  readonly content: string
  /** Its folder, for the files that the text names. */
  readonly dir: string
}

/** The skill in `storeDir/name`; undefined: there is none. Errors: BAD_REQUEST saying what is wrong with it, TOO_LARGE. */
export async function readSkill(storeDir: string, name: string): Promise<Skill | undefined> {
  if (!skillNamePattern.test(name)) throw new AppError('BAD_REQUEST', badName(name))
  const dir = join(storeDir, name)
  const path = join(dir, skillFile)
  const [store, real] = await Promise.all([orUndefined(realpath(storeDir)), orUndefined(realpath(path))])
  if (store === undefined || real === undefined) return undefined
  if (!real.startsWith(`${store}${sep}`)) {
    throw new AppError(
      'BAD_REQUEST',
      `the skill ${name} is a link that leads out of ${storeDir}; copy it there instead`,
    )
  }
  const text = await readPrivateFile(real, skillBytesMax)
  return text === undefined ? undefined : parseSkill(text, dir)
}

export const badName = (name: string): string =>
  `${JSON.stringify(name)} is no name of a skill: that has letters, digits, "_" and "-", 64 at most`

/** Errors: BAD_REQUEST. */
export function parseSkill(text: string, dir: string): Skill {
  const fail = (complaint: string) => new AppError('BAD_REQUEST', `the skill ${join(dir, skillFile)} ${complaint}`)
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (lines[0]?.trimEnd() !== '---' || end < 0) {
    throw fail('must begin with a line "---", then name and description, and another line "---"')
  }
  const document = parseDocument(lines.slice(1, end).join('\n'), { prettyErrors: false, uniqueKeys: true })
  const fault = document.errors[0]
  if (fault !== undefined) throw fail(`has a front matter that is not YAML: ${fault.message.split('\n')[0]}`)
  if (!isMap(document.contents)) throw fail('has a front matter without fields')
  const name = document.get('name')
  const description = document.get('description')
  if (name !== basename(dir)) throw fail(`must have "name: ${basename(dir)}", as its folder is called`)
  if (typeof description !== 'string' || description.trim() === '') {
    throw fail('must have a description: one line that says when an agent needs it')
  }
  if (description.length > descriptionLengthMax) {
    throw fail(`has a description of more than ${descriptionLengthMax} characters`)
  }
  const content = lines
    .slice(end + 1)
    .join('\n')
    .trim()
  return { name: basename(dir), description: description.replace(/\s+/g, ' ').trim(), content, dir }
}

async function orUndefined(found: Promise<string>): Promise<string | undefined> {
  try {
    return await found
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
    throw new AppError('BAD_REQUEST', `a skill can not be read: ${(error as Error).message}`, { cause: error })
  }
}

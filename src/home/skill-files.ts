/**
 * The skills that agents are offered: several stores, asked in order, of which the first that has the name wins. The built-in
 * ones come last, so that a person can replace them. `read-skill.ts` knows what a skill is, `skill-store.ts` changes our store.
 */
import { readdir } from 'node:fs/promises'
import { AppError } from '../domain/errors.ts'
import { readSkill, type Skill, skillNamePattern } from './read-skill.ts'

/** Names of one store that are listed; the rest can still be loaded. */
export const skillsPerStoreMax = 500

export type SkillPlaces = { readonly storeDirs: readonly string[]; readonly builtInDir: string }

export type ListedSkill = Pick<Skill, 'name' | 'description' | 'dir'> & {
  readonly isBuiltIn: boolean
  /** Why it can not be loaded; undefined: it can. */
  readonly fault: string | undefined
}

export interface SkillFiles {
  /** By name; one with a fault is listed with it and stops no other. */
  list(): Promise<readonly ListedSkill[]>
  /** Errors: BAD_REQUEST for a bad name or a faulty skill, NOT_FOUND naming those there are, TOO_LARGE. */
  load(name: string): Promise<Skill>
}

export function createSkillFiles({ storeDirs, builtInDir }: SkillPlaces): SkillFiles {
  const stores = [...storeDirs, builtInDir]
  const find = async (name: string): Promise<Skill | undefined> => {
    for (const store of stores) {
      const skill = await readSkill(store, name)
      if (skill !== undefined) return skill
    }
    return undefined
  }
  const list = async (): Promise<readonly ListedSkill[]> => {
    const names = new Set((await Promise.all(stores.map(listNames))).flat())
    const listed: ListedSkill[] = []
    for (const name of [...names].toSorted()) {
      try {
        const skill = await find(name)
        if (skill === undefined) continue
        const { description, dir } = skill
        listed.push({ name, description, dir, isBuiltIn: dir.startsWith(builtInDir), fault: undefined })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        listed.push({ name, description: '', dir: '', isBuiltIn: false, fault: error.message })
      }
    }
    return listed
  }
  return {
    list,
    async load(name) {
      const skill = await find(name)
      if (skill !== undefined) return skill
      const available = (await list()).filter(({ fault }) => fault === undefined).map((one) => one.name)
      const there = available.join(', ') || '(none)'
      throw new AppError('NOT_FOUND', `no skill is called ${name}; there are: ${there}`, { data: { available } })
    },
  }
}

async function listNames(dir: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    return folders
      .map(({ name }) => name)
      .filter((name) => skillNamePattern.test(name))
      .slice(0, skillsPerStoreMax)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return []
    throw error
  }
}

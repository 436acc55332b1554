/** Skills on the wire. */
import { z } from 'zod'

export const skillSummarySchema = z
  .object({
    name: z.string(),
    /** One line: when an agent needs it. */
    description: z.string(),
    /** Its folder, or `built-in`. */
    source: z.string(),
    loadable: z.boolean(),
    /** Why it can not be loaded. */
    error: z.string().nullable(),
  })
  .meta({ id: 'SkillSummary' })
export type SkillSummaryBody = z.infer<typeof skillSummarySchema>

export const skillSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    /** The text below the front matter. */
    content: z.string(),
    /** Absolute path of its folder, for the files that the text names. */
    directory: z.string(),
  })
  .meta({ id: 'Skill' })
export type SkillBody = z.infer<typeof skillSchema>

type Listed = {
  readonly name: string
  readonly description: string
  readonly dir: string
  readonly isBuiltIn: boolean
  readonly fault: string | undefined
}

export function toSkillSummary({ name, description, dir, isBuiltIn, fault }: Listed): SkillSummaryBody {
  const source = isBuiltIn ? 'built-in' : dir
  return { name, description, source, loadable: fault === undefined, error: fault ?? null }
}

export function toSkillBody({
  name,
  description,
  content,
  dir,
}: Omit<SkillBody, 'directory'> & { dir: string }): SkillBody {
  return { name, description, content, directory: dir }
}

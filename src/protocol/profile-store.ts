/** Profiles as they are searched, checked, installed and removed: parameters and answers. Names are upstream's where it has the route. */
import { z } from 'zod'
import { envField, flagField, numberField, optional, optionalName } from './fields.ts'
import { profileSummarySchema } from './profile.ts'

/** Of the text of a profile, as upstream has it. Units: characters. */
export const profileContentLengthMax = 262_144
const queryLengthMax = 1_000
const sourceLengthMax = 2_048

export const searchParams = z.object({
  q: z.string().max(queryLengthMax),
  limit: numberField(z.number().int().min(1).max(100)).default(10),
})

export const profileHitSchema = profileSummarySchema
  .extend({
    /** How many different words of the query it has. */
    coverage: z.number().int(),
    score: z.number(),
  })
  .meta({ id: 'ProfileHit' })
export type ProfileHitBody = z.infer<typeof profileHitSchema>

const contentField = z.string().max(profileContentLengthMax)

export const validateParams = z.object({ content: contentField })

export const profileCheckSchema = z
  .object({
    /** Nothing in it is an error. */
    valid: z.boolean(),
    messages: z.array(
      z.object({
        severity: z.enum(['error', 'warning']),
        message: z.string(),
        /** Name of the field; empty for the whole of it. */
        path: z.string(),
      }),
    ),
  })
  .meta({ id: 'ProfileCheck' })
export type ProfileCheckBody = z.infer<typeof profileCheckSchema>

const keepParams = { provider: optionalName, env_vars: optional(envField), force: flagField.default(false) }

export const installParams = z.object({ source: z.string().min(1).max(sourceLengthMax), ...keepParams })
export type InstallParams = z.input<typeof installParams>

export const saveParams = z.object({ content: contentField, name: optionalName, ...keepParams })
export type SaveParams = z.input<typeof saveParams>

export const installedSchema = z
  .object({
    success: z.literal(true),
    message: z.string(),
    agent_name: z.string(),
    /** The file that was written, or lay there already. */
    context_file: z.string(),
    /** Upstream writes files of the CLI itself here; CAO hands each agent its own at launch. */
    agent_file: z.null(),
    /** Variables of the profile that have no value yet; null for none. */
    unresolved_vars: z.array(z.string()).nullable(),
    source_kind: z.enum(['url', 'file', 'name']),
    /** Null: chosen at launch. */
    provider: z.string().nullable(),
    /** What an agent of this profile may use; ["*"] for no limit. */
    allowed_tools: z.array(z.string()),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'InstalledProfile' })
export type InstalledBody = z.infer<typeof installedSchema>

export const removedProfileSchema = z
  .object({ success: z.literal(true), name: z.string(), file: z.string() })
  .meta({ id: 'RemovedProfile' })
export type RemovedProfileBody = z.infer<typeof removedProfileSchema>

export type Installed = {
  readonly name: string
  readonly file: string
  readonly sourceKind: InstalledBody['source_kind']
  readonly provider: string | undefined
  readonly allowedTools: readonly string[] | undefined
  readonly unresolvedVariables: readonly string[]
  readonly notes: readonly string[]
}

export function toInstalledBody(installed: Installed): InstalledBody {
  const { name, file, unresolvedVariables } = installed
  return {
    success: true,
    message: `Agent '${name}' installed`,
    agent_name: name,
    context_file: file,
    agent_file: null,
    unresolved_vars: unresolvedVariables.length === 0 ? null : [...unresolvedVariables],
    source_kind: installed.sourceKind,
    provider: installed.provider ?? null,
    allowed_tools: [...(installed.allowedTools ?? ['*'])],
    warnings: [...installed.notes],
  }
}

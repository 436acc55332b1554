/** Agent profiles and providers on the wire. */
import { z } from 'zod'
import type { McpServer, Profile, ProfileExtras } from '../domain/profile.ts'
import { resolveTools } from '../domain/resolve-tools.ts'

export const profileSummarySchema = z
  .object({
    name: z.string(),
    source: z.string(),
    loadable: z.boolean(),
    description: z.string(),
    capabilities: z.array(z.string()),
    tags: z.array(z.string()),
    role: z.string().nullable(),
    duplicated_in: z.array(z.string()),
    provider: z.string().nullable(),
    /** Why it can not be loaded. */
    error: z.string().nullable(),
    /** Its path; null when it can not be read at all. */
    file: z.string().nullable(),
  })
  .meta({ id: 'ProfileSummary' })
export type ProfileSummaryBody = z.infer<typeof profileSummarySchema>

export const providerSchema = z
  .object({
    name: z.string(),
    /** Absolute path of its program; null when it was not found. */
    binary: z.string().nullable(),
    installed: z.boolean(),
    /** How to get it, when it is missing. */
    hint: z.string().nullable(),
  })
  .meta({ id: 'Provider' })
export type ProviderBody = z.infer<typeof providerSchema>
/** The parsed profile in upstream's spelling; absent fields are left out. */
export const profileSchema = z.looseObject({ name: z.string() }).meta({ id: 'Profile' })
export type ProfileBody = z.infer<typeof profileSchema>

/** What the list tells of a profile. */
export type ProfileSummary = Pick<Profile, 'name' | 'source' | 'description' | 'capabilities' | 'tags'> & {
  readonly role: string | undefined
  readonly provider: string | undefined
  readonly fault: string | undefined
  /** Empty: it can not be read at all. */
  readonly file: string
  readonly duplicatedIn: readonly string[]
}

export function toProfileSummary(profile: ProfileSummary): ProfileSummaryBody {
  return {
    name: profile.name,
    source: profile.source,
    loadable: profile.fault === undefined,
    description: profile.description,
    capabilities: [...profile.capabilities],
    tags: [...profile.tags],
    role: profile.role ?? null,
    duplicated_in: [...profile.duplicatedIn],
    provider: profile.provider ?? null,
    error: profile.fault ?? null,
    file: profile.file === '' ? null : profile.file,
  }
}

/** Values of environment variables of MCP servers may be secrets: they are not shown. */
export function toProfileBody(profile: Profile): ProfileBody {
  const servers = Object.entries(profile.mcpServers).map(([name, server]) => [name, toServerBody(server)] as const)
  const fields = {
    description: profile.description,
    role: profile.role,
    provider: profile.provider,
    model: profile.model,
    permissionMode: profile.permissionMode,
    allowedTools: profile.allowedTools,
    capabilities: profile.capabilities,
    tags: profile.tags,
    mcpServers: servers.length === 0 ? undefined : Object.fromEntries(servers),
    skills: profile.skills,
    supervisorMayAnswer: profile.supervisorMayAnswer,
    provider_init_timeout: profile.startupLimitMs === undefined ? undefined : profile.startupLimitMs / 1_000,
    ...toExtraFields(profile.extras),
    effective_tools: resolveTools(profile, undefined, undefined) ?? ['*'],
    system_prompt: profile.systemPrompt,
    source: profile.source,
  }
  return {
    name: profile.name,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  }
}

/** In the spelling of the file. */
function toExtraFields({ container, claudeConfig, ...others }: ProfileExtras): Readonly<Record<string, unknown>> {
  const { effort, fallbackModel } = claudeConfig ?? {}
  return {
    ...others,
    ...(container === undefined ? {} : { container: { path_maps: container.pathMaps } }),
    ...(claudeConfig === undefined
      ? {}
      : {
          claudeConfig: {
            ...(effort === undefined ? {} : { effort }),
            ...(fallbackModel === undefined ? {} : { fallback_model: fallbackModel }),
          },
        }),
  }
}

function toServerBody(server: McpServer): Readonly<Record<string, unknown>> {
  const timeout = server.timeoutMs === undefined ? {} : { timeout: server.timeoutMs }
  if ('url' in server) {
    return { type: server.transport, url: server.url, headers: Object.keys(server.headers), ...timeout }
  }
  return { command: server.command, args: server.args, env: Object.keys(server.env), ...timeout }
}

export function toProviderBody(provider: {
  readonly name: string
  readonly program: string | undefined
  readonly hint: string | undefined
}): ProviderBody {
  return {
    name: provider.name,
    binary: provider.program ?? null,
    installed: provider.program !== undefined,
    hint: provider.hint ?? null,
  }
}

/** An agent profile: upstream's Markdown file with YAML front matter, read and checked. The body is the system prompt. */

/** A server that the agent's CLI starts itself. */
export type LocalMcpServer = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** For one call of a tool. Undefined: the CLI's own. Units: ms. */
  readonly timeoutMs?: number
}
/** A server that runs somewhere else. */
export type RemoteMcpServer = {
  readonly url: string
  readonly transport: 'http' | 'sse'
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}
export type McpServer = LocalMcpServer | RemoteMcpServer

export type PathMap = { readonly host: string; readonly guest: string }

export type Profile = {
  readonly name: string
  readonly description: string
  readonly role: string | undefined
  /** Tools of the role, or of a developer where the profile names none. */
  readonly roleTools: readonly string[]
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly permissionMode: string | undefined
  readonly allowedTools: readonly string[] | undefined
  readonly capabilities: readonly string[]
  readonly tags: readonly string[]
  readonly mcpServers: Readonly<Record<string, McpServer>>
  /** Patterns of the skills that it is told of; undefined: all, empty: none. */
  readonly skills: readonly string[] | undefined
  /** Which of its questions another agent may answer (`answer-policy.ts`); undefined: its questions, no permission. */
  readonly supervisorMayAnswer?: readonly string[] | undefined
  /** Limit for the program to become ready, milliseconds; undefined: the provider's own. */
  readonly startupLimitMs: number | undefined
  readonly extras: ProfileExtras
  readonly systemPrompt: string
  /** Where it was read: a file path, or `built-in`. */
  readonly source: string
  /** Fields of the file that nobody knows. */
  readonly unknownFields: readonly string[]
  /** Variables `${NAME}` that have no value; they stand in the profile as they were written. */
  readonly unresolvedVariables: readonly string[]
}

/** Fields that only some CLIs, or only upstream, can serve; absent where the file has none. `extraFields` says by whom each is served. */
export type ProfileExtras = {
  readonly engine?: string
  readonly prompt?: string
  readonly native_agent?: string
  readonly container?: { readonly pathMaps: readonly PathMap[] }
  readonly claudeConfig?: { readonly effort?: string; readonly fallbackModel?: string }
  readonly codexProfile?: string
  readonly codexConfig?: Readonly<Record<string, unknown>>
  readonly hermesProfile?: string
  readonly grokNativeWorkflows?: boolean
  readonly tools?: readonly string[]
  readonly toolAliases?: Readonly<Record<string, string>>
  readonly toolsSettings?: Readonly<Record<string, unknown>>
  readonly resources?: readonly string[]
  readonly hooks?: Readonly<Record<string, unknown>>
  readonly useLegacyMcpJson?: boolean
}
export type ExtraField = keyof ProfileExtras

/** Which provider makes use of each; whoever else is launched with one is told that it is not served. */
export const extraFields: Readonly<Record<ExtraField, string | undefined>> = {
  engine: 'kiro_cli',
  prompt: 'kiro_cli',
  native_agent: 'claude_code',
  container: undefined,
  claudeConfig: 'claude_code',
  codexProfile: 'codex',
  codexConfig: 'codex',
  hermesProfile: 'hermes',
  grokNativeWorkflows: 'grok_cli',
  tools: 'kiro_cli',
  toolAliases: 'kiro_cli',
  toolsSettings: 'kiro_cli',
  resources: 'kiro_cli',
  hooks: 'kiro_cli',
  useLegacyMcpJson: 'kiro_cli',
}

export const profileNamePattern = /^[A-Za-z0-9_-]{1,64}$/
/** A role in a file of upstream's settings: its name, and the tools that it stands for. */
export type RoleTable = Readonly<Record<string, readonly string[]>>

/** Roles and variables that a profile may name. */
export type ProfileRules = {
  readonly roles: RoleTable
  readonly variables: Readonly<Record<string, string>>
  /** True: for somebody who looks. Variables, which may be secrets, stay names but in fields that are words of a choice. */
  readonly isForShow?: boolean
}

export const roles = ['supervisor', 'developer', 'reviewer'] as const
export type Role = (typeof roles)[number]

/** Upstream's tool vocabulary per role; `*` means no limit. */
export const roleTools: Readonly<Record<Role, readonly string[]>> = {
  supervisor: ['@cao-mcp-server', 'fs_read', 'fs_list'],
  reviewer: ['@builtin', 'fs_read', 'fs_list', '@cao-mcp-server'],
  developer: ['@builtin', 'fs_*', 'execute_bash', 'web_fetch', '@cao-mcp-server'],
}

/** A profile that says nothing, to build one on. */
export const blankProfile: Profile = {
  name: 'blank',
  description: '',
  role: undefined,
  roleTools: roleTools.developer,
  provider: undefined,
  model: undefined,
  permissionMode: undefined,
  allowedTools: undefined,
  capabilities: [],
  tags: [],
  mcpServers: {},
  skills: undefined,
  startupLimitMs: undefined,
  extras: {},
  systemPrompt: '',
  source: 'built-in',
  unknownFields: [],
  unresolvedVariables: [],
}

/** What the profile asks for and `provider` does not do, one sentence each. */
export function findUnserved(profile: Profile, provider: string): readonly string[] {
  return (Object.keys(profile.extras) as ExtraField[])
    .filter((field) => extraFields[field] !== provider)
    .map((field) => {
      const by = extraFields[field]
      return `${field}: ${by === undefined ? 'not served by CAO' : `only ${by} makes use of it`}`
    })
}

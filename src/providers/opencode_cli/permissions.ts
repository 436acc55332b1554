/** A profile's tool limits and permission mode in opencode's words. Pure. Source: opencode's `permission` setting. */
import type { Profile } from '../../domain/profile.ts'
import { allowsTool, type CliTool, cliTools, isKnownTool } from '../../domain/tools.ts'

export type PermissionAction = 'allow' | 'ask' | 'deny'
/** Order counts: of two rules that match, the later wins. */
export type PermissionMap = Readonly<Record<string, PermissionAction>>

export type PermissionPlan = {
  readonly map: PermissionMap
  /** Said at launch. */
  readonly mode: string
  readonly notEnforced: readonly string[]
}

/** Which of opencode's permissions each of CAO's tool names stands for. A sub-agent could run a shell for its parent. */
const permissionsOf = {
  execute_bash: ['bash', 'task'],
  fs_read: ['read', 'lsp'],
  fs_write: ['edit'],
  fs_list: ['glob', 'grep', 'list'],
  web_fetch: ['webfetch', 'websearch'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

const modes: Readonly<Record<string, { readonly action: PermissionAction; readonly says: string }>> = {
  ask: { action: 'ask', says: 'asks before shell commands, edits and web access' },
  allow: { action: 'allow', says: 'runs everything its profile allows without asking' },
}

/** `toolPrefix`: what CAO's own tools begin with. They are never asked for: an agent must be able to report at night. */
export function planPermissions(
  profile: Profile,
  allowedTools: readonly string[] | undefined,
  toolPrefix: string,
): PermissionPlan {
  const mode = profile.permissionMode === undefined ? undefined : modes[profile.permissionMode]
  const asked: PermissionMap =
    mode === undefined ? {} : { bash: mode.action, edit: mode.action, webfetch: mode.action, websearch: mode.action }
  const denied = cliTools.filter((name) => !allowsTool(allowedTools, name))
  const limits = Object.fromEntries(denied.flatMap((name) => permissionsOf[name].map((one) => [one, 'deny'] as const)))
  return {
    map: { ...asked, question: 'allow', ...limits, [`${toolPrefix}*`]: 'allow' },
    mode: mode?.says ?? "asks where opencode's own configuration says so",
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: opencode knows ${Object.keys(modes).join(' and ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  if (allowedTools === undefined) return []
  const unknown = allowedTools.filter((name) => !isKnownTool(name))
  return [
    ...unknown.map((name) => `${name}: opencode has no such tool`),
    "MCP servers of opencode's own configuration stay available",
  ]
}

/** A profile's tool limits and permission mode in Copilot CLI's words. Pure. Source: `copilot help permissions`, its tools of 1.0.102. */
import type { Profile } from '../../domain/profile.ts'
import { allowsTool, type CliTool, cliTools, isKnownTool } from '../../domain/tools.ts'

export type PermissionPlan = {
  readonly flags: readonly string[]
  /** Said at launch. */
  readonly says: string
  /** For `--excluded-tools`. */
  readonly excludedTools: readonly string[]
  readonly notEnforced: readonly string[]
}

/** Which tools each of CAO's tool names stands for. A sub-agent could run a shell. */
const toolsOf = {
  execute_bash: ['bash', 'read_bash', 'write_bash', 'stop_bash', 'list_bash', 'task', 'write_agent'],
  fs_read: ['view'],
  fs_write: ['create', 'edit', 'str_replace_editor', 'apply_patch'],
  fs_list: ['glob', 'grep'],
  web_fetch: ['web_fetch', 'web_search'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

type Mode = { readonly flags: readonly string[]; readonly says: string }
const manual: Mode = { flags: ['--mode', 'interactive'], says: 'asks before shell commands, edits and web access' }
const allowAll: Mode = { flags: ['--allow-all'], says: 'runs everything its profile allows without asking' }

const modes: Readonly<Record<string, Mode>> = {
  ask: manual,
  manual,
  default: manual,
  acceptEdits: { flags: ['--allow-tool=write'], says: 'edits files without asking, asks before other commands' },
  plan: { flags: ['--mode', 'plan'], says: 'reads and plans first, then asks' },
  allow: allowAll,
  bypassPermissions: allowAll,
}

export function planPermissions(profile: Profile, allowedTools: readonly string[] | undefined): PermissionPlan {
  const mode = profile.permissionMode === undefined ? undefined : modes[profile.permissionMode]
  return {
    flags: mode?.flags ?? [],
    says: mode?.says ?? 'as Copilot CLI is set: by itself it asks before shell commands, edits and web access',
    excludedTools: cliTools.filter((name) => !allowsTool(allowedTools, name)).flatMap((name) => toolsOf[name]),
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: Copilot CLI knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  const unknown = (allowedTools ?? []).filter((name) => !isKnownTool(name))
  return unknown.map((name) => `${name}: Copilot CLI has no such tool`)
}

/** A profile's permission mode and tool limits in Qwen Code's words. Pure. Source: `qwen --help`, its tools of 0.24.4. */
import type { Profile } from '../../domain/profile.ts'
import { allowsTool, type CliTool, cliTools, isKnownTool } from '../../domain/tools.ts'

export type PermissionPlan = {
  /** For `--approval-mode`; undefined: as the person's own settings say. */
  readonly mode: string | undefined
  /** Said at launch. */
  readonly says: string
  /** Tools that it does not get. */
  readonly denied: readonly string[]
  readonly notEnforced: readonly string[]
}

/** Which tools each of CAO's tool names stands for. A sub-agent could run a shell. */
const toolsOf = {
  execute_bash: ['run_shell_command', 'agent', 'monitor', 'exec', 'workflow'],
  fs_read: ['read_file'],
  fs_write: ['write_file', 'edit', 'notebook_edit'],
  fs_list: ['list_directory', 'glob', 'grep_search'],
  web_fetch: ['web_fetch', 'web_search'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

type Mode = { readonly mode: string; readonly says: string }
const asks: Mode = { mode: 'default', says: 'asks before shell commands, edits and web access' }
const edits: Mode = { mode: 'auto-edit', says: 'edits files without asking, asks before other commands' }
const judges: Mode = { mode: 'auto', says: 'auto mode: Qwen Code judges each call itself and asks for few' }
const allows: Mode = { mode: 'yolo', says: 'runs everything its profile allows without asking' }
const modes: Readonly<Record<string, Mode>> = {
  ask: asks,
  default: asks,
  'auto-edit': edits,
  acceptEdits: edits,
  auto: judges,
  plan: { mode: 'plan', says: 'reads and plans only' },
  allow: allows,
  yolo: allows,
}

/** `ownMode`: what the person's settings name as their default; undefined when they name none. */
export function planPermissions(
  profile: Profile,
  allowedTools: readonly string[] | undefined,
  ownMode: string | undefined,
): PermissionPlan {
  const mode = profile.permissionMode === undefined ? undefined : modes[profile.permissionMode]
  return {
    mode: mode?.mode,
    says: mode?.says ?? `as Qwen Code is set: ${modes[ownMode ?? 'auto']?.says ?? ownMode}`,
    denied: cliTools.filter((name) => !allowsTool(allowedTools, name)).flatMap((name) => toolsOf[name]),
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: Qwen Code knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  if (allowedTools === undefined) return []
  return [
    ...allowedTools.filter((name) => !isKnownTool(name)).map((name) => `${name}: Qwen Code has no such tool`),
    "MCP servers of Qwen Code's own settings and extensions stay available",
  ]
}

/** A profile's permission mode and tool limits in Gemini CLI's words. Pure. Source: `gemini --help`, its tools of 0.61.0. */
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
  execute_bash: ['run_shell_command', 'list_background_processes', 'read_background_output', 'invoke_agent'],
  fs_read: ['read_file', 'read_many_files'],
  fs_write: ['write_file', 'replace'],
  fs_list: ['list_directory', 'glob', 'grep_search'],
  web_fetch: ['web_fetch', 'google_web_search'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

type Mode = { readonly mode: string; readonly says: string }
const asks: Mode = { mode: 'default', says: 'asks before shell commands, edits and web access' }
const edits: Mode = { mode: 'auto_edit', says: 'edits files without asking, asks before other commands' }
const allows: Mode = { mode: 'yolo', says: 'runs everything its profile allows without asking' }
const modes: Readonly<Record<string, Mode>> = {
  ask: asks,
  default: asks,
  auto_edit: edits,
  acceptEdits: edits,
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
    says: mode?.says ?? `as Gemini CLI is set: ${modes[ownMode ?? 'default']?.says ?? ownMode}`,
    denied: cliTools.filter((name) => !allowsTool(allowedTools, name)).flatMap((name) => toolsOf[name]),
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: Gemini CLI knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  if (allowedTools === undefined) return []
  return [
    ...allowedTools.filter((name) => !isKnownTool(name)).map((name) => `${name}: Gemini CLI has no such tool`),
    "MCP servers of Gemini CLI's own settings and extensions stay available",
  ]
}

/** A policy file of Gemini CLI. Before all that it has by itself, in the order of its tiers. */
export function formatPolicy(denied: readonly string[], serverName: string): string {
  const rules = [
    `[[rule]]\ntoolName = "*"\nmcpName = ${JSON.stringify(serverName)}\ndecision = "allow"\npriority = 990\n`,
    ...(denied.length === 0
      ? []
      : [`[[rule]]\ntoolName = ${JSON.stringify(denied)}\ndecision = "deny"\npriority = 980\n`]),
  ]
  return rules.join('\n')
}

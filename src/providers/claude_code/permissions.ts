/** A profile's tool limits and permission mode in Claude Code's words. Pure. Source: `claude --help`, its tools of 2.1.332. */
import type { Profile } from '../../domain/profile.ts'
import { allowsTool, type CliTool, cliTools, isKnownTool } from '../../domain/tools.ts'

export type PermissionPlan = {
  /** For `--permission-mode`; undefined: as the person's own settings say. */
  readonly mode: string | undefined
  /** Said at launch. */
  readonly says: string
  /** For `--disallowedTools`. */
  readonly denied: readonly string[]
  readonly notEnforced: readonly string[]
}

/** Which tools each of CAO's tool names stands for. A sub-agent, or a command that goes on by itself, could run a shell. */
const toolsOf = {
  execute_bash: ['Bash', 'BashOutput', 'KillShell', 'PowerShell', 'Monitor', 'Agent', 'Task', 'Workflow'],
  fs_read: ['Read'],
  fs_write: ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'],
  fs_list: ['Glob', 'Grep', 'LS'],
  web_fetch: ['WebFetch', 'WebSearch'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

const modes: Readonly<Record<string, { readonly mode: string; readonly says: string }>> = {
  ask: { mode: 'manual', says: 'asks before shell commands, edits and web access' },
  manual: { mode: 'manual', says: 'asks before shell commands, edits and web access' },
  default: { mode: 'manual', says: 'asks before shell commands, edits and web access' },
  acceptEdits: { mode: 'acceptEdits', says: 'edits files without asking, asks before other commands' },
  plan: { mode: 'plan', says: 'reads and plans only' },
  auto: { mode: 'auto', says: 'auto mode: Claude Code judges each call itself and asks for none' },
  dontAsk: { mode: 'dontAsk', says: 'runs what its settings allow and refuses the rest without asking' },
  allow: { mode: 'bypassPermissions', says: 'runs everything its profile allows without asking' },
  bypassPermissions: { mode: 'bypassPermissions', says: 'runs everything its profile allows without asking' },
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
    says: mode?.says ?? describeOwnMode(ownMode),
    denied: cliTools.filter((name) => !allowsTool(allowedTools, name)).flatMap((name) => toolsOf[name]),
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function describeOwnMode(ownMode: string | undefined): string {
  if (ownMode === undefined) return 'as Claude Code is set: auto mode, it judges each call itself and asks for none'
  return `as Claude Code is set: ${modes[ownMode]?.says ?? ownMode}`
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: Claude Code knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  const unknown = (allowedTools ?? []).filter((name) => !isKnownTool(name))
  return unknown.map((name) => `${name}: Claude Code has no such tool`)
}

/** A profile's tool limits and permission mode in Kimi Code's words. Pure. Source: its tools and modes of 2.1.0. */
import type { Profile } from '../../domain/profile.ts'
import { allowsTool, type CliTool, cliTools, isKnownTool } from '../../domain/tools.ts'

export type PermissionPlan = {
  /** For `default_permission_mode`; undefined: as the person's own settings say. */
  readonly mode: string | undefined
  readonly isPlanning: boolean
  /** Said at launch. */
  readonly says: string
  readonly disabledTools: readonly string[]
  readonly notEnforced: readonly string[]
}

/** Which tools each of CAO's tool names stands for. A sub-agent, or a prompt at a later time, could run a shell. */
const toolsOf = {
  execute_bash: ['Bash', 'Agent', 'AgentSwarm', 'CronCreate'],
  fs_read: ['Read', 'ReadMediaFile'],
  fs_write: ['Write', 'Edit'],
  fs_list: ['Glob', 'Grep'],
  web_fetch: ['FetchURL', 'WebSearch'],
} as const satisfies Readonly<Record<CliTool, readonly string[]>>

type Mode = { readonly mode: string; readonly says: string; readonly isPlanning?: true }
const manual = { mode: 'manual', says: 'asks before shell commands, edits and tools of others' }
const whenNeeded = { mode: 'yolo', says: 'runs what is routine without asking, asks before risky actions' }
const never = { mode: 'auto', says: 'runs everything its profile allows without asking, and asks no questions' }

const modes: Readonly<Record<string, Mode>> = {
  ask: manual,
  manual,
  default: manual,
  plan: { mode: 'manual', says: 'reads and plans first, then asks', isPlanning: true },
  yolo: whenNeeded,
  auto: whenNeeded,
  allow: never,
  bypassPermissions: never,
}
/** Kimi Code's own names for them. */
const ownModes: Readonly<Record<string, Mode>> = { manual, yolo: whenNeeded, auto: never }

/** `ownMode`: what the person's settings name as their default; undefined when they name none. */
export function planPermissions(
  profile: Profile,
  allowedTools: readonly string[] | undefined,
  ownMode: string | undefined,
): PermissionPlan {
  const mode = profile.permissionMode === undefined ? undefined : modes[profile.permissionMode]
  const own = ownMode === undefined ? manual.says : (ownModes[ownMode]?.says ?? ownMode)
  return {
    mode: mode?.mode,
    isPlanning: mode?.isPlanning === true,
    says: mode?.says ?? `as Kimi Code is set: ${own}`,
    disabledTools: cliTools.filter((name) => !allowsTool(allowedTools, name)).flatMap((name) => toolsOf[name]),
    notEnforced: [...listModeFaults(profile, mode !== undefined), ...listToolFaults(allowedTools)],
  }
}

function listModeFaults({ permissionMode }: Profile, isKnown: boolean): readonly string[] {
  if (permissionMode === undefined || isKnown) return []
  return [`permissionMode ${permissionMode}: Kimi Code knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[] | undefined): readonly string[] {
  const unknown = (allowedTools ?? []).filter((name) => !isKnownTool(name))
  return unknown.map((name) => `${name}: Kimi Code has no such tool`)
}

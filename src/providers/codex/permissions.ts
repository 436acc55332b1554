/**
 * A profile's permission mode and tool limits in Codex's words. Codex limits what its commands may do by a sandbox, and by
 * when it asks; it has one shell for everything, and reads files by shell commands. Pure. Source: `codex --help`, 0.171.0.
 */
import type { Profile } from '../../domain/profile.ts'

type Sandbox = 'read-only' | 'workspace-write' | 'danger-full-access'
type Asks = 'on-request' | 'never'

export type PermissionPlan = {
  /** For the command line; empty: as the person's own settings say. */
  readonly flags: readonly string[]
  /** Said at launch. */
  readonly says: string
  readonly notEnforced: readonly string[]
}

/** What the person's own settings name. */
export type OwnMode = { readonly asks: string | undefined; readonly sandbox: string | undefined }

type Mode = { readonly sandbox: Sandbox; readonly asks: Asks }
const modes: Readonly<Record<string, Mode>> = {
  ask: { sandbox: 'read-only', asks: 'on-request' },
  'read-only': { sandbox: 'read-only', asks: 'on-request' },
  auto: { sandbox: 'workspace-write', asks: 'on-request' },
  'workspace-write': { sandbox: 'workspace-write', asks: 'on-request' },
  allow: { sandbox: 'danger-full-access', asks: 'never' },
  'danger-full-access': { sandbox: 'danger-full-access', asks: 'never' },
}

const sandboxSays: Readonly<Record<string, string>> = {
  'read-only': 'reads without asking',
  'workspace-write': 'reads and writes in its directory without asking',
  'danger-full-access': 'runs everything without a sandbox',
}
const asksSays: Readonly<Record<string, string>> = {
  'on-request': 'asks before anything that its sandbox does not allow',
  never: 'never asks: what its sandbox does not allow fails',
}

const toolNames = ['execute_bash', 'fs_read', 'fs_write', 'fs_list', 'web_fetch'] as const
type ToolName = (typeof toolNames)[number]
/** Names that say nothing about Codex's own tools. */
const otherNames = /^(?:@|discovery$|fs_\*$)/

export function planPermissions(
  profile: Profile,
  allowedTools: readonly string[] | undefined,
  own: OwnMode,
): PermissionPlan {
  const named = profile.permissionMode === undefined ? undefined : modes[profile.permissionMode]
  const can = (name: ToolName) => isAllowed(name, allowedTools)
  const limited = limitMode(named ?? readOwn(own), can)
  const hasShell = can('execute_bash') || can('fs_read') || can('fs_list')
  const isLimited = limited !== undefined
  const mode = limited ?? named
  return {
    flags: [
      ...(mode === undefined ? [] : ['--sandbox', mode.sandbox, '--ask-for-approval', mode.asks]),
      ...(hasShell ? [] : ['--disable', 'shell_tool']),
      ...(can('web_fetch') ? [] : ['-c', 'web_search="disabled"']),
    ],
    says: describe(mode, own, isLimited),
    notEnforced: [
      ...listModeFaults(profile, named),
      ...(allowedTools === undefined ? [] : listToolFaults(allowedTools, can)),
    ],
  }
}

function isAllowed(name: ToolName, allowed: readonly string[] | undefined): boolean {
  return allowed === undefined || allowed.includes(name) || (name.startsWith('fs_') && allowed.includes('fs_*'))
}

/** The mode that the limits leave; undefined when they take nothing away. */
function limitMode(mode: Mode | undefined, can: (name: ToolName) => boolean): Mode | undefined {
  if (can('execute_bash') && can('fs_write')) return undefined
  const sandbox: Sandbox = can('fs_write') ? 'workspace-write' : 'read-only'
  const narrow = mode?.sandbox === 'read-only' ? mode.sandbox : sandbox
  // A command that a person allows runs outside of the sandbox: without a shell of its own nobody is asked for one.
  return { sandbox: narrow, asks: can('execute_bash') ? (mode?.asks ?? 'on-request') : 'never' }
}

function readOwn({ sandbox, asks }: OwnMode): Mode | undefined {
  const known = Object.values(modes).find((mode) => mode.sandbox === sandbox)
  return known === undefined ? undefined : { sandbox: known.sandbox, asks: asks === 'never' ? 'never' : 'on-request' }
}

function describe(mode: Mode | undefined, own: OwnMode, isLimited: boolean): string {
  if (mode?.sandbox === 'danger-full-access') return 'runs everything its profile allows without asking or sandbox'
  if (mode !== undefined) {
    const says = `${sandboxSays[mode.sandbox]}, ${asksSays[mode.asks]}`
    return isLimited ? `${says} (by the tools of its profile)` : says
  }
  const sandbox = sandboxSays[own.sandbox ?? 'workspace-write'] ?? `sandbox ${own.sandbox}`
  const asks = asksSays[own.asks ?? 'on-request'] ?? `asks by its policy ${own.asks}`
  return `as Codex is set: ${sandbox}, ${asks}`
}

function listModeFaults({ permissionMode }: Profile, mode: Mode | undefined): readonly string[] {
  if (permissionMode === undefined || mode !== undefined) return []
  return [`permissionMode ${permissionMode}: Codex knows ${Object.keys(modes).join(', ')}`]
}

function listToolFaults(allowedTools: readonly string[], can: (name: ToolName) => boolean): readonly string[] {
  const unknown = allowedTools.filter((name) => !otherNames.test(name) && !toolNames.some((one) => one === name))
  const reads = can('fs_read') || can('fs_list')
  const shell =
    'execute_bash: Codex reads files by shell commands, so it keeps its shell, without a way out of its sandbox'
  const both = 'fs_read, fs_list: Codex tells them not apart'
  return [
    ...unknown.map((name) => `${name}: Codex has no such tool`),
    ...(!can('execute_bash') && reads ? [shell] : []),
    ...(can('execute_bash') && !(can('fs_read') && can('fs_list')) ? [both] : []),
    "MCP servers of Codex's own configuration stay available",
  ]
}

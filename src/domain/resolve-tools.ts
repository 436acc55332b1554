/**
 * What a new agent may use: its own list, within what whoever launches it may give. Pure.
 *
 * Its own list is the launch's, else the profile's, else its role's; to the last two come the MCP servers of the profile. What
 * remains is a true intersection with what the launcher may give, which is what it has itself: whatever the child's profile
 * says, it gets no more. Only the role of a supervisor is no limit for its team, since it leaves the work to others: it may give
 * what was left to it, unless the launch or its profile names its tools. A server that the result does not reach is not wired; CAO's own tools are, since an agent must be able to report.
 */
import type { Profile } from './profile.ts'
import { allowsServer, allowsTool, intersectTools, type ToolList } from './tools.ts'

/** In profiles of upstream, where each has to name it; every agent of ours is given it. */
export const ownServerName = 'cao-mcp-server'

/** Undefined: no limit. `launcher`: the team tools of the agent that launches; undefined for a person or an agent without limit. */
export function resolveTools(profile: Profile, asked: ToolList, launcher: ToolList): ToolList {
  const servers = Object.keys(profile.mcpServers).map((name) => `@${name}`)
  const own = asked ?? [...new Set([...(profile.allowedTools ?? profile.roleTools), ...servers])]
  return intersectTools(own.includes('*') ? undefined : own, launcher)
}

/** What the agents that it launches may have at most; undefined: no limit. */
export function resolveTeamTools(profile: Profile, asked: ToolList, launcher: ToolList): ToolList {
  const isRoleOnly = asked === undefined && profile.allowedTools === undefined
  return isRoleOnly && profile.role === 'supervisor' ? launcher : resolveTools(profile, asked, launcher)
}

export type LimitedServers = Pick<Profile, 'mcpServers'> & { readonly notes: readonly string[] }

/** The servers that the list reaches, and a sentence for each that it does not reach, or not the whole of. */
export function limitServers({ mcpServers }: Profile, allowed: ToolList): LimitedServers {
  const names = Object.keys(mcpServers).filter((name) => name !== ownServerName)
  const left = names.filter((name) => !allowsServer(allowed, name))
  const partly = names.filter((name) => allowsServer(allowed, name) && !allowsTool(allowed, `@${name}`))
  return {
    mcpServers: Object.fromEntries(Object.entries(mcpServers).filter(([name]) => !left.includes(name))),
    notes: [
      ...left.map((name) => `MCP server ${name}: left out, the allowed tools do not name @${name}`),
      ...partly.map(
        (name) => `MCP server ${name}: all its tools can be used, the limit to some of them is not enforced`,
      ),
    ],
  }
}

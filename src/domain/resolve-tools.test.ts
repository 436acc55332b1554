import { describe, expect, test } from 'vitest'
import { blankProfile, type Profile, roleTools } from './profile.ts'
import { limitServers, resolveTeamTools, resolveTools } from './resolve-tools.ts'

const docs = { command: 'docs', args: [], env: {} }
const profileOf = (fields: Partial<Profile>): Profile => ({ ...blankProfile, ...fields })

describe('the tools of a new agent', () => {
  test.each<[string, Partial<Profile>, readonly string[] | undefined, readonly string[] | undefined]>([
    ['its role, a developer where it names none', {}, undefined, roleTools.developer],
    ['its own list before its role', { allowedTools: ['fs_read'] }, undefined, ['fs_read']],
    ['the list of the launch before both', { allowedTools: ['fs_read'] }, ['web_fetch'], ['web_fetch']],
    ['no limit for "*"', { allowedTools: ['*', 'fs_read'] }, undefined, undefined],
    ['nothing for an empty list', { allowedTools: [] }, undefined, []],
    [
      'the servers of the profile beside its list',
      { allowedTools: ['fs_read'], mcpServers: { docs } },
      undefined,
      ['fs_read', '@docs'],
    ],
    ['only what the launch names, servers too', { mcpServers: { docs } }, ['fs_read'], ['fs_read']],
  ])('are %s', (_what, fields, asked, expected) => {
    expect(resolveTools(profileOf(fields), asked, undefined)).toEqual(expected)
  })

  const launcher = ['fs_read', 'fs_list', '@cao-mcp-server']
  test.each<[string, Partial<Profile>, readonly string[] | undefined, readonly string[]]>([
    ['a child of any tools', { allowedTools: ['*'] }, undefined, launcher],
    ['a launch of any tools', {}, ['*'], launcher],
    ['a child with a group', { allowedTools: ['fs_*', 'execute_bash'] }, undefined, ['fs_read', 'fs_list']],
    ['a developer', { role: 'developer' }, undefined, launcher],
    ['a child with a server of its own', { allowedTools: [], mcpServers: { docs } }, undefined, []],
    ['a child of no tools', { allowedTools: [] }, undefined, []],
  ])('are never more than those of its launcher: %s', (_what, fields, asked, expected) => {
    const tools = resolveTools(profileOf(fields), asked, launcher)
    expect(tools?.toSorted()).toEqual(expected.toSorted())
  })
})

describe('what it may give to agents that it launches', () => {
  const limit = ['fs_read']
  test.each<[string, Partial<Profile>, readonly string[] | undefined, ReturnType<typeof resolveTeamTools>]>([
    ['is what a supervisor by its role was left', { role: 'supervisor' }, undefined, limit],
    ['is the own list of a supervisor that has one', { role: 'supervisor', allowedTools: ['fs_list'] }, undefined, []],
    ['is the list of its launch', { role: 'supervisor' }, ['fs_read', 'fs_list'], limit],
    ['is what an agent of another role has itself', { role: 'developer' }, undefined, limit],
  ])('%s', (_what, fields, asked, expected) => {
    expect(resolveTeamTools(profileOf(fields), asked, limit)).toEqual(expected)
  })

  test('is without limit only for a supervisor by its role, or for "*"', () => {
    const free = (fields: Partial<Profile>) => resolveTeamTools(profileOf(fields), undefined, undefined) === undefined
    expect([free({ role: 'supervisor' }), free({ allowedTools: ['*'] }), free({}), free({ role: 'reviewer' })]).toEqual(
      [true, true, false, false],
    )
  })
})

test('a server that the tools do not reach is left out, and that is said', () => {
  const profile = profileOf({ mcpServers: { docs, git: docs, 'cao-mcp-server': docs } })
  expect(limitServers(profile, ['fs_read', '@git/status'])).toEqual({
    mcpServers: { git: docs, 'cao-mcp-server': docs },
    notes: [
      'MCP server docs: left out, the allowed tools do not name @docs',
      'MCP server git: all its tools can be used, the limit to some of them is not enforced',
    ],
  })
  expect(limitServers(profile, undefined).notes).toEqual([])
})

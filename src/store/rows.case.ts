/** Rows for tests that need one and do not care what is in it: a new column is added here once. */
import type { SessionName, TerminalId } from '../domain/ids.ts'
import type { NewTerminal } from './store.ts'

export function newTerminal(id: TerminalId, changes: Partial<NewTerminal> = {}): NewTerminal {
  return {
    id,
    sessionName: 'cao-x' as SessionName,
    name: 'developer',
    provider: 'scripted',
    profileName: 'developer',
    callerId: undefined,
    allowedTools: undefined,
    teamTools: undefined,
    workingDirectory: '/srv/project',
    program: '/usr/bin/agent',
    argv: ['/usr/bin/agent', '--quiet'],
    binding: {},
    permissionMode: '',
    limitsNotEnforced: [],
    model: undefined,
    envNames: [],
    group: undefined,
    metadata: undefined,
    createdAtMs: 100,
    ...changes,
  }
}

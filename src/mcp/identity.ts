/**
 * Who this process speaks for. CAO wrote it into the environment of the agent whose child this is: the terminal, the file
 * with its capability, the server's socket, and the folder for messages while the server is down. Never a tool's argument.
 */
import { readFileSync } from 'node:fs'
import { AppError } from '../domain/errors.ts'
import { parseTerminalId, type TerminalId } from '../domain/ids.ts'

export type Identity = {
  readonly terminalId: TerminalId
  readonly capability: string
  readonly socketPath: string
  readonly outboxDir: string
}

export const identityVariables = ['CAO_TERMINAL_ID', 'CAO_CAPABILITY_FILE', 'CAO_SOCKET', 'CAO_OUTBOX'] as const

/** Errors: SETUP_MISSING when the environment does not name a terminal: without a capability nothing is asked at all. */
export function loadIdentity(env: Readonly<Record<string, string | undefined>>): Identity {
  const missing = identityVariables.filter((name) => (env[name] ?? '') === '')
  if (missing.length > 0) {
    const sentence = `this MCP server belongs to an agent that CAO has started: ${missing.join(', ')} is not set`
    throw new AppError('SETUP_MISSING', sentence)
  }
  const terminalId = parseTerminalId(env['CAO_TERMINAL_ID'] ?? '')
  if (terminalId === undefined) throw new AppError('SETUP_MISSING', 'CAO_TERMINAL_ID is not 8 hexadecimal digits')
  return {
    terminalId,
    capability: readCapability(env['CAO_CAPABILITY_FILE'] ?? ''),
    socketPath: env['CAO_SOCKET'] ?? '',
    outboxDir: env['CAO_OUTBOX'] ?? '',
  }
}

function readCapability(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new AppError('SETUP_MISSING', 'the file named by CAO_CAPABILITY_FILE can not be read', { cause: error })
  }
  if (text === '') throw new AppError('SETUP_MISSING', 'the file named by CAO_CAPABILITY_FILE is empty')
  return text
}

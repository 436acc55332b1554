/** Looking for others of the team needs a word in the profile, as upstream has it. */
import { AppError } from '../domain/errors.ts'
import { allowsTool } from '../domain/tools.ts'
import type { ToolContext } from './tool.ts'

/** Errors: FORBIDDEN, and what the server refuses: who is not known to be allowed is not. */
export async function requireDiscovery({ client, identity, signal }: ToolContext): Promise<void> {
  const { allowed_tools } = await client.getTerminal(identity.terminalId, { signal })
  if (allowsTool(allowed_tools ?? undefined, 'discovery')) return
  throw new AppError('FORBIDDEN', 'your profile does not allow it: "discovery" is not among its allowedTools')
}

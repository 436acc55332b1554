/** From the parameters of a creation to the use case's request: pure. */
import type { z } from 'zod'
import type { Actor, CreateTerminal } from '../app/app.ts'
import { AppError } from '../domain/errors.ts'
import { createSessionQuery, createTerminalBody, createTerminalQuery } from '../protocol/terminal.ts'
import { callerOf, senderOf } from './access.ts'

export const createTerminalParams = createTerminalQuery.extend(createTerminalBody.shape)
export const createSessionParams = createSessionQuery.extend(createTerminalBody.shape)

/** Errors: BAD_REQUEST for what this version does not do, FORBIDDEN for a foreign caller. */
export function toCreateTerminal(params: z.output<typeof createTerminalParams>, actor: Actor): CreateTerminal {
  refuseUnsupported(params)
  const callerId = callerOf(actor, params.caller_id)
  const senderId = senderOf(actor, params.initial_message_sender_id ?? undefined, 'initial_message_sender_id')
  const { initial_message: body, initial_message_orchestration_type: kind } = params
  return {
    profileName: params.agent_profile,
    ...(params.provider === undefined ? {} : { provider: params.provider }),
    ...(params.working_directory === undefined ? {} : { workingDirectory: params.working_directory }),
    ...(params.allowed_tools === undefined ? {} : { allowedTools: params.allowed_tools }),
    ...(params.model === undefined ? {} : { model: params.model }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(params.env_vars ? { env: params.env_vars } : {}),
    ...(params.client_env ? { clientEnv: params.client_env } : {}),
    ...(params.group ? { group: params.group } : {}),
    ...(params.metadata ? { metadata: params.metadata } : {}),
    ...(params.use_worktree === true ? { useWorktree: true } : {}),
    ...(body ? { initialMessage: { body, kind: kind ?? 'input', senderId: senderId ?? callerId ?? 'user' } } : {}),
  }
}

/** Options of upstream that would change what the agent does: silently doing without them would be a lie. Errors: BAD_REQUEST. */
export function refuseUnsupported(params: { readonly engine?: string | undefined }): void {
  if (params.engine !== undefined) {
    throw new AppError(
      'BAD_REQUEST',
      `engine "${params.engine}" is not known: no provider here has a choice of engines`,
    )
  }
}

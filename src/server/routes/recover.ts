/** Lost and exited agents come back with their conversation. Only a person may. */
import type { z } from 'zod'
import type { RecoverTerminal } from '../../app/app.ts'
import { adoptedSchema, recoverBody, recoveredSchema } from '../../protocol/recover.ts'
import { terminalSchema, toTerminalBody } from '../../protocol/terminal.ts'
import { actionWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const recoverRoutes = [
  route({
    at: 'POST /terminals/:id/recover',
    summary: 'Takes a lost or exited agent up again with its conversation',
    description: 'Same id, same queue. Values of extra variables are given again: CAO keeps only their names.',
    access: 'person',
    errors: [
      'NOT_FOUND',
      'CONFLICT',
      'ENV_MISSING',
      'PROFILE_UNKNOWN',
      'PROFILE_INVALID',
      'DIRECTORY_MISSING',
      'LAUNCH_FAILED',
    ],
    path: { id: terminalIdPart },
    params: recoverBody,
    answer: terminalSchema,
    handle: async ({ app, path, params }) =>
      toTerminalBody(await app.recoverTerminal(path.id, toRecover(params), actionWaiting())),
  }),
  route({
    at: 'POST /recover',
    summary: 'Takes every lost agent up again; one that fails stops no other and is named',
    access: 'person',
    params: recoverBody,
    answer: recoveredSchema,
    handle: async ({ app, params }) => {
      const { recovered, errors } = await app.recoverAll(toRecover(params), actionWaiting())
      return { recovered: [...recovered], errors: [...errors] }
    },
  }),
  route({
    at: 'POST /adopt',
    summary: 'Takes in agents whose panes live and whose rows are gone, as after the loss of the database',
    description:
      'By the tag of the pane and the record in the folder of the terminal. Their messages and jobs stay lost.',
    access: 'person',
    answer: adoptedSchema,
    handle: async ({ app }) => {
      const { adopted, errors } = await app.adoptStrays(actionWaiting())
      return { adopted: [...adopted], errors: [...errors] }
    },
  }),
]

function toRecover({ env_vars, client_env }: z.output<typeof recoverBody>): RecoverTerminal {
  return { ...(env_vars ? { env: env_vars } : {}), ...(client_env ? { clientEnv: client_env } : {}) }
}

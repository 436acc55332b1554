/** `POST /terminals/{id}/recover` and `POST /recover`: lost and exited agents come back with their conversation. Only a person may. */
import type { z } from 'zod'
import type { RecoverTerminal } from '../../app/app.ts'
import { recoverBody } from '../../protocol/recover.ts'
import { toTerminalBody } from '../../protocol/terminal.ts'
import { requirePerson } from '../access.ts'
import { actionWaiting, type Router, readParams, requireActor, type Services, terminalIdOf } from '../context.ts'

export function recoverRoutes(router: Router, { app }: Services): void {
  router.post('/terminals/:id/recover', async (c) => {
    requirePerson(requireActor(c))
    const params = await readParams(c, recoverBody)
    return c.json(toTerminalBody(await app.recoverTerminal(terminalIdOf(c), toRecover(params), actionWaiting())))
  })
  router.post('/recover', async (c) => {
    requirePerson(requireActor(c))
    const params = await readParams(c, recoverBody)
    return c.json(await app.recoverAll(toRecover(params), actionWaiting()))
  })
}

function toRecover({ env_vars, client_env }: z.output<typeof recoverBody>): RecoverTerminal {
  return { ...(env_vars ? { env: env_vars } : {}), ...(client_env ? { clientEnv: client_env } : {}) }
}

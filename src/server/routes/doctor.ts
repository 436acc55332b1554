/** `GET /doctor`: what a person should know of backend and leftovers. Only a person may ask. */
import type { FindingBody } from '../../protocol/doctor.ts'
import { requirePerson } from '../access.ts'
import { actionWaiting, type Router, requireActor, type Services } from '../context.ts'

export function doctorRoutes(router: Router, { app }: Services): void {
  router.get('/doctor', async (c) => {
    requirePerson(requireActor(c))
    const findings: readonly FindingBody[] = await app.examine(actionWaiting())
    return c.json(findings)
  })
}

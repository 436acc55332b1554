/** `GET /doctor`: what a person should know of backend and leftovers. */
import { z } from 'zod'
import { findingSchema } from '../../protocol/doctor.ts'
import { actionWaiting } from '../context.ts'
import { route } from '../route.ts'

export const doctorRoutes = [
  route({
    at: 'GET /doctor',
    summary:
      'What is found about the backend (version, dangers, options, connection) and leftovers, each with what to do',
    access: 'person',
    answer: z.array(findingSchema),
    handle: async ({ app }) => [...(await app.examine(actionWaiting()))],
  }),
]

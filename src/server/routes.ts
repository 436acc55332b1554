/** Every route of the HTTP interface: what `http-app.ts` mounts and what `openapi.ts` describes. Pure. */
import type { Route } from './route.ts'
import { doctorRoutes } from './routes/doctor.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { inboxRoutes } from './routes/inbox.ts'
import { jobRoutes } from './routes/jobs.ts'
import { notifyRoutes } from './routes/notify.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { outputRoutes } from './routes/output.ts'
import { profileTemplateRoutes } from './routes/profile-templates.ts'
import { profileRoutes } from './routes/profiles.ts'
import { purgeRoutes } from './routes/purge.ts'
import { questionRoutes } from './routes/questions.ts'
import { recoverRoutes } from './routes/recover.ts'
import { runStepRoutes } from './routes/run-step.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { settingsRoutes } from './routes/settings.ts'
import { skillRoutes } from './routes/skills.ts'
import { terminalInputRoutes } from './routes/terminal-input.ts'
import { terminalRoutes } from './routes/terminals.ts'
import { wellKnownRoutes } from './routes/well-known.ts'
import { worktreeRoutes } from './routes/worktrees.ts'

/** In the order in which the document tells them. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...openApiRoutes(() => routes),
  ...wellKnownRoutes,
  ...doctorRoutes,
  ...profileRoutes,
  ...profileTemplateRoutes,
  ...skillRoutes,
  ...settingsRoutes,
  ...sessionRoutes,
  ...terminalRoutes,
  ...terminalInputRoutes,
  ...outputRoutes,
  ...recoverRoutes,
  ...purgeRoutes,
  ...inboxRoutes,
  ...runStepRoutes,
  ...jobRoutes,
  ...questionRoutes,
  ...worktreeRoutes,
  ...notifyRoutes,
  ...eventRoutes,
]

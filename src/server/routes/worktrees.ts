/** Worktrees: which there are and what each holds, the removal of one, and whether a project's set-up may run. */
import { z } from 'zod'
import type { Actor, App, FoundSetup } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import type { TerminalId } from '../../domain/ids.ts'
import { successSchema } from '../../protocol/terminal.ts'
import {
  listWorktreesQuery,
  removeWorktreeQuery,
  type SetupBody,
  setupQuery,
  setupSchema,
  toWorktreeBody,
  trustSetupBody,
  worktreeSchema,
} from '../../protocol/worktree.ts'
import { requirePerson } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const worktreeRoutes = [
  route({
    at: 'GET /worktrees',
    summary: 'All worktrees, those that outlived their agent included, and what each holds',
    access: 'any',
    params: listWorktreesQuery,
    answer: z.array(worktreeSchema),
    handle: async ({ app, c, services, params: { look } }) => {
      const views = await app.listWorktrees({ isLook: look }, clientWaiting(c, services))
      return views.map(toWorktreeBody)
    },
  }),
  route({
    at: 'DELETE /worktrees/:id',
    summary: 'Removes the worktree of an ended agent, with its branch',
    description:
      'Only when it is clean and merged; with `force` whatever is in it, which only a person may. An agent may remove those of its workers.',
    access: 'any',
    errors: ['NOT_FOUND', 'CONFLICT'],
    path: { id: terminalIdPart },
    params: removeWorktreeQuery,
    answer: successSchema,
    handle: async ({ app, actor, path, params: { force } }) => {
      if (force) requirePerson(actor)
      requireCaller(app, actor, path.id)
      await app.removeWorktree({ id: path.id, isForced: force }, actionWaiting())
      return { success: true }
    },
  }),
  route({
    at: 'GET /worktrees/setup',
    summary: 'The command that a project names for its worktrees, and whether it is allowed',
    access: 'person',
    errors: ['BAD_REQUEST'],
    params: setupQuery,
    answer: setupSchema,
    handle: async ({ app, c, services, params: { directory } }) =>
      toSetupBody(await app.showWorktreeSetup(directory, clientWaiting(c, services))),
  }),
  route({
    at: 'PUT /worktrees/setup',
    summary: 'Allows the set-up of a project as it stands in its file now, or forbids it',
    description:
      '`digest` is that of the file; one that has changed is refused, and a later change needs a new permission.',
    access: 'person',
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT'],
    params: trustSetupBody,
    answer: setupSchema,
    handle: async ({ app, params: { directory, digest } }) =>
      toSetupBody(await app.trustWorktreeSetup(directory, digest ?? undefined, actionWaiting())),
  }),
]

/** Errors: FORBIDDEN. */
function requireCaller(app: App, actor: Actor, id: TerminalId): void {
  if (actor.kind === 'person' || app.findWorktree(id)?.callerId === actor.id) return
  throw new AppError('FORBIDDEN', `terminal ${actor.id} may not remove the worktree of ${id}: it is not its worker's`)
}

function toSetupBody({ repository, setup }: FoundSetup): SetupBody {
  return {
    repository,
    file: setup?.file ?? null,
    argv: [...(setup?.argv ?? [])],
    timeout_s: setup === undefined ? null : setup.timeoutMs / 1_000,
    digest: setup?.digest ?? null,
    is_allowed: setup?.isAllowed ?? false,
  }
}

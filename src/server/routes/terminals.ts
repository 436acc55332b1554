/** `/terminals` and `/terminals/{id}`: one agent, what it is, and its end. */
import { z } from 'zod'
import type { TerminalView } from '../../app/app.ts'
import type { Terminal } from '../../domain/terminal.ts'
import { type ExplainBody, toTrailBody } from '../../protocol/explain.ts'
import { flagField, numberField } from '../../protocol/fields.ts'
import { toMessageBody } from '../../protocol/message.ts'
import { toQuestionBody } from '../../protocol/question.ts'
import { groupBody, metadataBody, type SiblingBody, toTerminalBody } from '../../protocol/terminal.ts'
import { requireCommand, requireReach } from '../access.ts'
import {
  actionWaiting,
  clientWaiting,
  type Router,
  readParams,
  readQuery,
  requireActor,
  type Services,
  terminalIdOf,
} from '../context.ts'

const siblingsQuery = z.object({
  /** How many leading elements of the group must be the same; all when absent. */
  depth: numberField.pipe(z.number().int().min(1)).optional(),
  cross_session: flagField.default(false),
})

export function terminalRoutes(router: Router, services: Services): void {
  const { app } = services

  router.get('/terminals', (c) => c.json(app.listTerminals().map(toTerminalBody)))
  router.get('/terminals/:id', (c) => c.json(toTerminalBody(app.getTerminal(terminalIdOf(c)))))
  router.delete('/terminals/:id', async (c) => {
    const id = terminalIdOf(c)
    requireCommand(app, requireActor(c), id)
    await app.deleteTerminal(id, actionWaiting())
    return c.json({ success: true })
  })
  router.patch('/terminals/:id/group', async (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    const { group } = await readParams(c, groupBody)
    return c.json(toTerminalBody(app.setGroup(id, group ?? undefined)))
  })
  router.patch('/terminals/:id/metadata', async (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    const { metadata } = await readParams(c, metadataBody)
    return c.json(toTerminalBody(app.setMetadata(id, metadata ?? undefined)))
  })
  router.get('/terminals/:id/working-directory', (c) =>
    c.json({ working_directory: app.getTerminal(terminalIdOf(c)).terminal.workingDirectory }),
  )
  router.get('/terminals/:id/siblings', (c) => {
    const query = readQuery(c, siblingsQuery)
    const own = app.getTerminal(terminalIdOf(c)).terminal
    const candidates = app.listTerminals(query.cross_session ? undefined : own.sessionName)
    return c.json(findSiblings(own, candidates, query.depth))
  })
  router.get('/terminals/:id/attach', (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    return c.json({ argv: app.attachArgv(id) })
  })
  router.get('/terminals/:id/explain', async (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    const told = await app.explain(id, clientWaiting(c, services))
    return c.json({
      terminal: toTerminalBody(told.view),
      trail: told.trail.map(toTrailBody),
      screen: told.screen ?? null,
      open_messages: told.openMessages.map(toMessageBody),
      open_questions: told.openQuestions.map(toQuestionBody),
      facts: told.facts,
    } satisfies ExplainBody)
  })
}

/** Terminals whose group begins as `own`'s does; none when `own` has no group. Pure. */
export function findSiblings(
  own: Pick<Terminal, 'id' | 'group'>,
  candidates: readonly TerminalView[],
  depth: number | undefined,
): readonly SiblingBody[] {
  const prefix = (own.group ?? []).slice(0, depth)
  if (prefix.length === 0) return []
  return candidates
    .filter(({ terminal }) => terminal.id !== own.id && terminal.life !== 'deleted')
    .filter(({ terminal }) => prefix.every((part, index) => terminal.group?.[index] === part))
    .map(toTerminalBody)
    .map(({ id, group, metadata, status }) => ({ id, group, metadata, status }))
}

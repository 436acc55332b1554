/** `/terminals` and `/terminals/{id}`: one agent, what it is, and its end. */
import { z } from 'zod'
import type { TerminalView } from '../../app/app.ts'
import type { Terminal } from '../../domain/terminal.ts'
import { captureSchema, explainSchema, toScreenBody, toSourceBody, toTrailBody } from '../../protocol/explain.ts'
import { toMessageBody } from '../../protocol/message.ts'
import { toQuestionBody } from '../../protocol/question.ts'
import {
  attachSchema,
  endedSchema,
  groupBody,
  metadataBody,
  type SiblingBody,
  siblingSchema,
  siblingsQuery,
  terminalSchema,
  toTerminalBody,
  workingDirectorySchema,
} from '../../protocol/terminal.ts'
import { toOwnWorktreeBody } from '../../protocol/worktree.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const terminalRoutes = [
  route({
    at: 'GET /terminals',
    summary: 'All agents',
    access: 'any',
    answer: z.array(terminalSchema),
    handle: ({ app }) => app.listTerminals().map(toTerminalBody),
  }),
  route({
    at: 'GET /terminals/:id',
    summary: 'One agent: what it is and what it does',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { id: terminalIdPart },
    answer: terminalSchema,
    handle: ({ app, path }) => toTerminalBody(app.getTerminal(path.id)),
  }),
  route({
    at: 'DELETE /terminals/:id',
    summary: 'Ends an agent and forgets it',
    isUpstream: true,
    access: 'command',
    path: { id: terminalIdPart },
    description: 'A worktree that holds work is kept, and stands in the answer.',
    answer: endedSchema,
    handle: async ({ app, path }) => {
      await app.deleteTerminal(path.id, actionWaiting())
      const kept = app.findWorktree(path.id)
      return { success: true, ...(kept === undefined ? {} : { worktree: toOwnWorktreeBody(kept) }) }
    },
  }),
  route({
    at: 'PATCH /terminals/:id/group',
    summary: 'Sets the group of an agent, or takes it away with null',
    description: 'At most 16 elements of 128 characters.',
    isUpstream: true,
    access: 'change',
    path: { id: terminalIdPart },
    params: groupBody,
    answer: terminalSchema,
    handle: ({ app, path, params: { group } }) => toTerminalBody(app.setGroup(path.id, group ?? undefined)),
  }),
  route({
    at: 'PATCH /terminals/:id/metadata',
    summary: 'Sets the metadata of an agent, or takes them away with null',
    description: 'At most 16 KiB of JSON.',
    isUpstream: true,
    access: 'change',
    path: { id: terminalIdPart },
    params: metadataBody,
    answer: terminalSchema,
    handle: ({ app, path, params: { metadata } }) => toTerminalBody(app.setMetadata(path.id, metadata ?? undefined)),
  }),
  route({
    at: 'GET /terminals/:id/working-directory',
    summary: 'The directory that an agent was started in',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { id: terminalIdPart },
    answer: workingDirectorySchema,
    handle: ({ app, path }) => ({ working_directory: app.getTerminal(path.id).terminal.workingDirectory }),
  }),
  route({
    at: 'GET /terminals/:id/siblings',
    summary: 'Agents whose group begins as its own; of its session unless `cross_session`',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { id: terminalIdPart },
    params: siblingsQuery,
    answer: z.array(siblingSchema),
    handle: ({ app, path, params }) => {
      const own = app.getTerminal(path.id).terminal
      return findSiblings(own, app.listTerminals(params.cross_session ? undefined : own.sessionName), params.depth)
    },
  }),
  route({
    at: 'GET /terminals/:id/attach',
    summary: 'The command that attaches a person to an agent',
    access: 'reach',
    path: { id: terminalIdPart },
    answer: attachSchema,
    handle: ({ app, path }) => ({ argv: [...app.attachArgv(path.id)] }),
  }),
  route({
    at: 'GET /terminals/:id/explain',
    summary: 'Why CAO says what it says of an agent: evidence, screen, open messages and questions',
    access: 'reach',
    path: { id: terminalIdPart },
    answer: explainSchema,
    handle: async ({ app, c, services, path }) => {
      const told = await app.explain(path.id, clientWaiting(c, services))
      return {
        terminal: toTerminalBody(told.view),
        trail: told.trail.map(toTrailBody),
        sources: told.sources.map(toSourceBody),
        screen: told.screen === undefined ? null : toScreenBody(told.screen),
        open_messages: told.openMessages.map(toMessageBody),
        open_questions: told.openQuestions.map(toQuestionBody),
        facts: { ...told.facts },
      }
    },
  }),
  route({
    at: 'GET /terminals/:id/capture',
    summary: 'The screen of an agent with colours and attributes, to be made a fixture of',
    access: 'person',
    errors: ['NOT_FOUND', 'CONFLICT'],
    path: { id: terminalIdPart },
    answer: captureSchema,
    handle: async ({ app, c, services, path }) => {
      const { provider, program, snapshot } = await app.captureScreen(path.id, clientWaiting(c, services))
      const { lines, size, title, isAlternate, cursor } = snapshot
      return {
        provider,
        program,
        lines: [...lines],
        ...size,
        title,
        alternate: isAlternate,
        cursor: { x: cursor.x, y: cursor.y, visible: cursor.isVisible },
      }
    },
  }),
]

/** Terminals whose group begins as `own`'s does; none when `own` has no group. Pure. */
export function findSiblings(
  own: Pick<Terminal, 'id' | 'group'>,
  candidates: readonly TerminalView[],
  depth: number | undefined,
): SiblingBody[] {
  const prefix = (own.group ?? []).slice(0, depth)
  if (prefix.length === 0) return []
  return candidates
    .filter(({ terminal }) => terminal.id !== own.id && terminal.life !== 'deleted')
    .filter(({ terminal }) => prefix.every((part, index) => terminal.group?.[index] === part))
    .map(toTerminalBody)
    .map(({ id, group, metadata, status }) => ({ id, group, metadata, status }))
}

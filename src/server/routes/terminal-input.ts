/** What is typed into a terminal: text, a key, the wish to end. */
import { commandParams, holdParams, inputParams, keyParams, sentSchema, toSentBody } from '../../protocol/message.ts'
import { successSchema, terminalSchema, toTerminalBody } from '../../protocol/terminal.ts'
import { authorOf, senderOf } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const terminalInputRoutes = [
  route({
    at: 'POST /terminals/:id/input',
    summary: 'Types `message` into an agent and waits until it was taken or refused',
    description:
      'Without `orchestration_type` the text is typed as it is. Refused when the agent has ended, or waits for an answer and the text is a handoff or an assign. ' +
      'After `wait_s` seconds the answer tells what is known.',
    isUpstream: true,
    access: 'command',
    errors: ['BAD_REQUEST', 'TOO_LARGE', 'BLOCKED', 'QUEUE_FULL', 'LIMIT_REACHED'],
    path: { id: terminalIdPart },
    params: inputParams,
    answer: sentSchema,
    handle: async ({ app, c, services, actor, path, params: { message, sender_id, orchestration_type, wait_s } }) => {
      const senderId = senderOf(actor, sender_id) ?? 'user'
      const kind = orchestration_type === undefined ? {} : { orchestrationType: orchestration_type }
      const input = { body: message, senderId, author: authorOf(actor, c), waitMs: wait_s * 1_000, ...kind }
      return toSentBody(await app.sendInput(path.id, input, clientWaiting(c, services)))
    },
  }),
  route({
    at: 'POST /terminals/:id/command',
    summary: "Gives an agent's program a command of its own, such as `/compact`, and waits until it was taken",
    description:
      'Only for a person: agents talk to each other in messages, in which no command is one. It is typed when the agent rests; `confirmed` says that it left the ' +
      'composer, no more. What it did is on the screen.',
    access: 'person',
    errors: ['NOT_FOUND', 'BLOCKED', 'QUEUE_FULL'],
    path: { id: terminalIdPart },
    params: commandParams,
    answer: sentSchema,
    handle: async ({ app, c, services, path, params: { command, wait_s } }) => {
      const input = { body: command.trimEnd(), senderId: 'user', waitMs: wait_s * 1_000 }
      return toSentBody(await app.sendCommand(path.id, input, clientWaiting(c, services)))
    },
  }),
  route({
    at: 'POST /terminals/:id/key',
    summary: 'Presses one key',
    description:
      'Up, Down, Left, Right, Enter, Tab, Escape, Space, one letter or digit, or one of these with C-, M- or S- before it.',
    isUpstream: true,
    access: 'command',
    errors: ['BAD_REQUEST', 'BLOCKED'],
    path: { id: terminalIdPart },
    params: keyParams,
    answer: successSchema,
    handle: async ({ app, c, actor, path, params }) => {
      await app.pressKey(path.id, { key: params.key, by: authorOf(actor, c) }, actionWaiting())
      return { success: true }
    },
  }),
  route({
    at: 'POST /terminals/:id/hold',
    summary: 'Holds the queue of an agent: nothing is typed into it',
    description: 'Until it is released, or a person types or sends something to it. What comes meanwhile waits.',
    access: 'person',
    errors: ['NOT_FOUND'],
    path: { id: terminalIdPart },
    params: holdParams,
    answer: terminalSchema,
    handle: ({ app, c, actor, path, params: { why } }) =>
      toTerminalBody(app.holdQueue(path.id, { by: authorOf(actor, c), why: why ?? 'asked for' })),
  }),
  route({
    at: 'POST /terminals/:id/release',
    summary: 'Lets a queue that is held go on',
    access: 'person',
    errors: ['NOT_FOUND'],
    path: { id: terminalIdPart },
    answer: terminalSchema,
    handle: ({ app, c, actor, path }) => toTerminalBody(app.releaseQueue(path.id, authorOf(actor, c))),
  }),
  route({
    at: 'POST /terminals/:id/exit',
    summary: 'Asks the program of an agent to end by itself',
    isUpstream: true,
    access: 'command',
    errors: ['BLOCKED'],
    path: { id: terminalIdPart },
    answer: successSchema,
    handle: async ({ app, path }) => {
      await app.exitTerminal(path.id, actionWaiting())
      return { success: true }
    },
  }),
]

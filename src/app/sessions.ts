/** Sessions: a named team of terminals. A session lives while it has a terminal. */
import type { Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { makeSessionName, parseSessionName, type SessionName } from '../domain/ids.ts'
import type { Session } from '../domain/terminal.ts'
import type { DeleteOutcome } from './app.ts'
import type { AppContext } from './context.ts'
import type { Deleter } from './end-terminal.ts'

/** Terminals that are ended at the same time. */
const deletesAtOnce = 8

/** Errors: BAD_REQUEST for a bad name. */
export function chooseSessionName(context: AppContext, asked: string | undefined): SessionName {
  if (asked === undefined) return makeSessionName(context.random)
  const name = parseSessionName(asked)
  if (name === undefined) {
    throw new AppError(
      'BAD_REQUEST',
      `${JSON.stringify(asked)} is no session name; use letters, digits, _ and -, at most 60 of them`,
    )
  }
  return name
}

/** Makes a session whose name must be free; of any number of callers at once one gets it. Errors: NAME_TAKEN. */
export function openSession(context: AppContext, name: SessionName, workingDirectory: string): void {
  if (insertSession(context, name, workingDirectory)) return
  throw new AppError(
    'NAME_TAKEN',
    `a session ${name} exists already; choose another name or end it with \`cao shutdown --session ${name}\``,
  )
}

/** Makes the session where it is not there; false when it is. */
export function insertSession(context: AppContext, name: SessionName, workingDirectory: string): boolean {
  const { store, events, clock } = context
  const createdAtMs = clock.nowMs()
  const event = store.transaction(() => {
    if (store.sessions.insert({ name, createdAtMs, workingDirectory }) === 'taken') return undefined
    return store.events.append({ type: 'session.created', sessionName: name }, createdAtMs)
  })
  if (event !== undefined) events.announce(event)
  return event !== undefined
}

/** Errors: NOT_FOUND. */
export function requireSession(context: AppContext, name: SessionName): Session {
  const session = context.store.sessions.find(name)
  if (session === undefined)
    throw new AppError('NOT_FOUND', `there is no session ${name}; \`cao ls\` lists those there are`)
  return session
}

/** Removes a session that has no terminal left. */
export function closeIfEmpty(context: AppContext, name: SessionName): void {
  const { store, events, clock } = context
  const event = store.transaction(() => {
    if (store.terminals.list(name).length > 0 || !store.sessions.delete(name)) return undefined
    return store.events.append({ type: 'session.deleted', sessionName: name }, clock.nowMs())
  })
  if (event !== undefined) events.announce(event)
}

/** Ends exactly the terminals of this session; one that can not be ended stops no other and is named. */
export async function deleteSession(
  context: AppContext,
  deleter: Deleter,
  name: SessionName,
  waiting: Waiting,
): Promise<DeleteOutcome> {
  requireSession(context, name)
  const deleted: string[] = []
  const errors: { readonly id: string; readonly error: string }[] = []
  const queue = context.store.terminals.list(name).map((terminal) => terminal.id)
  const endSome = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      try {
        await deleter.delete(id, waiting)
        deleted.push(id)
      } catch (error) {
        errors.push({ id, error: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: deletesAtOnce }, endSome))
  closeIfEmpty(context, name)
  return { deleted, errors }
}

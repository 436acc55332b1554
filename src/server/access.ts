/**
 * What an agent may do. A person may do everything; a terminal acts only as itself, sees its own team, and rules over
 * no one outside it. This stops mix-ups and injected agents that use the tools, not a hostile process of the same user.
 *
 *  - reach: itself, its caller, its workers, its session: messages and reading.
 *  - command: its workers and the others of its session, never itself (an agent must not answer its own permission prompt), and
 *    never whoever it works for (nor that one's).
 *  - change: itself and whom it commands: what is told about a terminal.
 */
import type { Actor, App } from '../app/app.ts'
import { AppError } from '../domain/errors.ts'
import { parseTerminalId, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { Job } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import type { Terminal } from '../domain/terminal.ts'
import { allowsTool } from '../domain/tools.ts'
import type { HttpContext } from './context.ts'

type Kin = Pick<Terminal, 'id' | 'callerId' | 'sessionName'>

/** Pure. */
export function canReach(own: Kin, target: Kin): boolean {
  return target.id === own.id || target.id === own.callerId || canCommand(own, target)
}

/** Pure. */
export function canCommand(own: Kin, target: Kin): boolean {
  if (target.id === own.id || target.id === own.callerId) return false
  return target.callerId === own.id || target.sessionName === own.sessionName
}

/** Errors: NOT_FOUND, FORBIDDEN. */
export function requireReach(app: App, actor: Actor, id: TerminalId): void {
  const target = app.getTerminal(id).terminal
  if (actor.kind === 'person' || canReach(app.getTerminal(actor.id).terminal, target)) return
  throw new AppError('FORBIDDEN', `terminal ${actor.id} may not look into terminal ${id}: it is not of its team`)
}

/** Errors: NOT_FOUND, FORBIDDEN. */
export function requireCommand(app: App, actor: Actor, id: TerminalId): void {
  const target = app.getTerminal(id).terminal
  if (actor.kind === 'person') return
  const own = app.getTerminal(actor.id).terminal
  if (canCommand(own, target) && !worksFor(app, own, id)) return
  const why = actor.id === id ? 'an agent does not do this to itself' : 'it is not of its team'
  throw new AppError('FORBIDDEN', `terminal ${actor.id} may not act on terminal ${id}: ${why}`)
}

/** Errors: NOT_FOUND, FORBIDDEN. */
export function requireChange(app: App, actor: Actor, id: TerminalId): void {
  if (actor.kind === 'terminal' && actor.id === id) return
  requireCommand(app, actor, id)
}

/** Whether `id` stands above `own`: its caller, or that one's. A row that is gone ends the chain. */
function worksFor(app: App, own: Kin, id: TerminalId): boolean {
  const all = new Map(app.listTerminals().map(({ terminal }) => [terminal.id, terminal.callerId]))
  const seen = new Set<TerminalId>()
  for (let above = own.callerId; above !== undefined && !seen.has(above); above = all.get(above)) {
    if (above === id) return true
    seen.add(above)
  }
  return false
}

/**
 * Whose session a new agent may join: whoever is in a session commands the others of it, so an agent puts workers only into its own
 * session, a new one, or one where it commands everybody. Errors: FORBIDDEN.
 */
export function requireSession(app: App, actor: Actor, name: SessionName): void {
  if (actor.kind === 'person') return
  const own = app.getTerminal(actor.id).terminal
  if (own.sessionName === name) return
  const members = app.listTerminals(name).filter(({ terminal }) => terminal.life !== 'deleted')
  if (members.every(({ terminal }) => canCommand(own, terminal))) return
  throw new AppError('FORBIDDEN', `terminal ${actor.id} may not add agents to session ${name}: it is not of its team`)
}

/** Errors: FORBIDDEN. */
export function requirePerson(actor: Actor): void {
  if (actor.kind === 'terminal') throw new AppError('FORBIDDEN', 'only a person may do this, not an agent')
}

/** Whoever sends or creates: an agent is itself, whatever it says. Errors: FORBIDDEN. */
export function senderOf(actor: Actor, given: string | undefined, field = 'sender_id'): string | undefined {
  if (actor.kind === 'person') return given
  if (given === undefined || given === actor.id) return actor.id
  throw new AppError('FORBIDDEN', `${field} must be ${actor.id}: an agent acts only as itself`)
}

/** Whose hand something comes from (`Message.author`). */
export const authorOf = (actor: Actor, c: HttpContext): string =>
  actor.kind === 'terminal' ? actor.id : `person/${c.env.door.kind}`

/** As `senderOf`, for who gets a new worker's answer. Errors: FORBIDDEN, VALIDATION. */
export function callerOf(actor: Actor, given: string | undefined): TerminalId | undefined {
  const text = senderOf(actor, given, 'caller_id')
  const id = text === undefined ? undefined : parseTerminalId(text)
  if (text !== undefined && id === undefined)
    throw new AppError('VALIDATION', 'caller_id: must be 8 hexadecimal digits')
  return id
}

/** Errors: FORBIDDEN. */
export function requireSender(actor: Actor, message: Message): void {
  if (actor.kind === 'person' || message.senderId === actor.id) return
  throw new AppError('FORBIDDEN', `message ${message.id} is not one of terminal ${actor.id}`)
}

/** Errors: FORBIDDEN. */
export function requireJobOf(actor: Actor, job: Job, may: 'read' | 'cancel' | 'report'): void {
  if (actor.kind === 'person') return
  if (may !== 'report' && job.callerId === actor.id) return
  if (may !== 'cancel' && job.workerId === actor.id) return
  throw new AppError('FORBIDDEN', `job ${job.id} is not one of terminal ${actor.id}`)
}

/** The words of the CLIs for "runs everything without asking". */
const freeModes: readonly unknown[] = ['allow', 'bypassPermissions', 'danger-full-access']

/**
 * Checks are commands that CAO runs by itself, with a person's rights. An agent may ask for them only if it could run the same by
 * itself, unasked: else they would be a way around its limits. Errors: FORBIDDEN.
 */
export async function requireChecks(
  app: App,
  actor: Actor,
  checks: readonly unknown[] | null | undefined,
): Promise<void> {
  if (actor.kind === 'person' || !checks || checks.length === 0) return
  const { allowedTools, profileName } = app.getTerminal(actor.id).terminal
  const profile = await app.loadProfile(profileName).catch(() => undefined)
  if (allowsTool(allowedTools, 'execute_bash') && freeModes.includes(profile?.permissionMode)) return
  const who = `terminal ${actor.id} may not ask for checks`
  const why = 'its profile must let it run commands (execute_bash) without being asked (permissionMode: allow)'
  throw new AppError('FORBIDDEN', `${who}: ${why}; ask the worker to run them, and to say how they ended`)
}

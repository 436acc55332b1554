/** Who asks: pure, from the door, two headers and the book of capabilities. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Actor } from '../app/app.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Door } from './context.ts'

/** Tokens of running agents, each for one terminal. */
export interface CapabilityBook {
  find(token: string): TerminalId | undefined
}

export type Credentials = {
  readonly door: Door
  readonly authorization: string | undefined
  readonly capability: string | undefined
}

/**
 * The actor. A capability names its agent on any door, and a wrong one is refused: it must never turn into a person.
 * Errors: UNAUTHORIZED.
 */
export function identify({ door, authorization, capability }: Credentials, book: CapabilityBook): Actor {
  if (capability !== undefined) {
    const id = book.find(capability)
    if (id === undefined) throw new AppError('UNAUTHORIZED', 'this capability is not (or no longer) that of a terminal')
    return { kind: 'terminal', id }
  }
  if (door.kind === 'unix' || door.token === undefined) return { kind: 'person' }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (given === undefined) throw new AppError('UNAUTHORIZED', 'this needs a token: Authorization: Bearer TOKEN')
  if (isSameToken(given, door.token)) return { kind: 'person' }
  if (door.readToken !== undefined && isSameToken(given, door.readToken)) return { kind: 'person', mayOnlyRead: true }
  throw new AppError('UNAUTHORIZED', 'the token is not the one of this server')
}

/** Takes the same time whatever is different; the hash makes the lengths equal. */
export function isSameToken(given: string, own: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(own))
}

import { expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import { type TerminalId, trustId } from '../domain/ids.ts'
import { identify, isSameToken } from './auth.ts'
import type { Door } from './context.ts'

const worker = trustId<TerminalId>('12ab34cd')
const book = { find: (token: string) => (token === 'secret-of-worker' ? worker : undefined) }
const unix: Door = { kind: 'unix' }
const tcp: Door = { kind: 'tcp', token: 'right' }
const both: Door = { kind: 'tcp', token: 'right', readToken: 'look' }
const open: Door = { kind: 'tcp', token: undefined }

function ask(door: Door, authorization?: string, capability?: string): string {
  try {
    const actor = identify({ door, authorization, capability }, book)
    if (actor.kind === 'terminal') return actor.id
    return actor.mayOnlyRead === true ? 'reader' : 'person'
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

test.each([
  ['a person on the unix socket', unix, undefined, undefined, 'person'],
  ['an agent on the unix socket', unix, undefined, 'secret-of-worker', '12ab34cd'],
  ['an agent with a wrong capability never becomes a person', unix, undefined, 'wrong', 'UNAUTHORIZED'],
  ['an empty capability is a wrong one', unix, undefined, '', 'UNAUTHORIZED'],
  ['TCP without a token', tcp, undefined, undefined, 'UNAUTHORIZED'],
  ['TCP with the token', tcp, 'Bearer right', undefined, 'person'],
  ['TCP with the token and a lower-case scheme', tcp, 'bearer right', undefined, 'person'],
  ['TCP with another token', tcp, 'Bearer wrong', undefined, 'UNAUTHORIZED'],
  ['TCP with a token of another length', tcp, 'Bearer rightright', undefined, 'UNAUTHORIZED'],
  ['TCP with another scheme', tcp, 'Basic right', undefined, 'UNAUTHORIZED'],
  ['TCP with a capability', tcp, undefined, 'secret-of-worker', '12ab34cd'],
  ['TCP with the token and a wrong capability', tcp, 'Bearer right', 'wrong', 'UNAUTHORIZED'],
  ['TCP with the read-only token', both, 'Bearer look', undefined, 'reader'],
  ['TCP with the full token beside it', both, 'Bearer right', undefined, 'person'],
  ['TCP with neither of the two', both, 'Bearer lookright', undefined, 'UNAUTHORIZED'],
  ['TCP without auth, on purpose', open, undefined, undefined, 'person'],
  ['TCP without auth, an agent', open, undefined, 'secret-of-worker', '12ab34cd'],
] as const)('%s', (...[, door, authorization, capability, who]) => {
  expect(ask(door, authorization, capability)).toBe(who)
})

test('tokens are compared whole', () => {
  expect([isSameToken('a', 'a'), isSameToken('a', 'ab'), isSameToken('', 'a'), isSameToken('b', 'a')]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

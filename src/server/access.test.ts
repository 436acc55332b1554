import { expect, test } from 'vitest'
import { type SessionName, type TerminalId, trustId } from '../domain/ids.ts'
import { callerOf, canCommand, canReach, senderOf } from './access.ts'

const kin = (id: string, callerId: string | undefined, session: string) => ({
  id: trustId<TerminalId>(id),
  callerId: callerId === undefined ? undefined : trustId<TerminalId>(callerId),
  sessionName: trustId<SessionName>(session),
})
const own = kin('11111111', '00000000', 'cao-a')

test.each([
  ['itself', own, true, false],
  ['its caller in another session', kin('00000000', undefined, 'cao-b'), true, false],
  ['its worker in another session', kin('22222222', '11111111', 'cao-b'), true, true],
  ['its caller in its own session', kin('00000000', undefined, 'cao-a'), true, false],
  ['a colleague of its session', kin('33333333', '00000000', 'cao-a'), true, true],
  ['a stranger', kin('44444444', undefined, 'cao-b'), false, false],
  ["a stranger's worker", kin('55555555', '44444444', 'cao-b'), false, false],
])('an agent and %s', (_who, target, reaches, commands) => {
  expect([canReach(own, target), canCommand(own, target)]).toEqual([reaches, commands])
})

test('an agent is itself, whatever it says', () => {
  const agent = { kind: 'terminal', id: own.id } as const
  expect([senderOf(agent, undefined), senderOf(agent, '11111111'), callerOf(agent, undefined)]).toEqual([
    own.id,
    own.id,
    own.id,
  ])
  expect(() => senderOf(agent, '22222222')).toThrow('sender_id must be 11111111: an agent acts only as itself')
  expect(() => callerOf(agent, '22222222')).toThrow('caller_id must be 11111111: an agent acts only as itself')
})

test('a person may send in any name', () => {
  expect([senderOf({ kind: 'person' }, 'script'), senderOf({ kind: 'person' }, undefined)]).toEqual([
    'script',
    undefined,
  ])
})

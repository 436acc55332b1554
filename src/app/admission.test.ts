/** The gate of launches: what is reached and what is full, as pure decisions. That each route passes it is asked over HTTP. */
import { expect, test } from 'vitest'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import { newTerminal } from '../store/rows.case.ts'
import { requirePlace, requireRoom } from './admission.ts'

const limits = { depthMax: 2, sessionWorkersMax: 2, memoryMinMib: 200, loadMax: 8 }
const ids = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc', 'dddddddd'] as TerminalId[]
const [boss, worker, helper, other] = ids as [TerminalId, TerminalId, TerminalId, TerminalId]
const at = 'cao-team' as SessionName

const terminal = (id: TerminalId, callerId: TerminalId | undefined, more: Partial<Terminal> = {}): Terminal => ({
  ...newTerminal(id),
  sessionName: at,
  callerId,
  life: 'live',
  pane: undefined,
  exit: undefined,
  lostReason: undefined,
  lastActiveAtMs: 0,
  ...more,
})
const codeOf = (work: () => void): unknown => {
  try {
    work()
    return 'admitted'
  } catch (error) {
    return (error as { code: unknown }).code
  }
}

test('agents delegate as deep as the limit says, counted from the one that a person started', () => {
  const chain = [terminal(boss, undefined), terminal(worker, boss), terminal(helper, worker)]
  const launch = (callerId: TerminalId) =>
    codeOf(() => requirePlace(limits, chain, { sessionName: 'cao-else' as SessionName, callerId }))
  expect([boss, worker, helper].map(launch)).toEqual(['admitted', 'admitted', 'LIMIT_REACHED'])
})

test('a session has as many living workers as the limit says; what has ended, and agents of people, do not count', () => {
  const one = [terminal(boss, undefined), terminal(worker, boss)]
  const launch = (all: readonly Terminal[]) =>
    codeOf(() => requirePlace(limits, all, { sessionName: at, callerId: boss }))
  expect(launch([...one, terminal(helper, boss, { life: 'exited' })])).toBe('admitted')
  expect(launch([...one, terminal(helper, boss, { sessionName: 'cao-else' as SessionName })])).toBe('admitted')
  expect(launch([...one, terminal(helper, boss, { life: 'planned' }), terminal(other, undefined)])).toBe(
    'LIMIT_REACHED',
  )
})

test('a full machine defers and says when to ask again; agents that have just begun count as grown', () => {
  const calm = { memoryMib: 450, loadPerCore: 1 }
  const room = (machine: Partial<typeof calm>, young = 0, given = limits) =>
    codeOf(() => requireRoom(given, { ...calm, ...machine }, young))
  expect([room({}), room({}, 2), room({}, 3)]).toEqual(['admitted', 'admitted', 'DEFERRED'])
  expect([room({ memoryMib: 199 }), room({ loadPerCore: 8.1 })]).toEqual(['DEFERRED', 'DEFERRED'])
  const open = { ...limits, memoryMinMib: 0, loadMax: 0 }
  expect([room({ memoryMib: 1 }, 0, open), room({ loadPerCore: 900 }, 0, open)]).toEqual(['admitted', 'admitted'])
  expect(codeOf(() => requireRoom(limits, { memoryMib: undefined, loadPerCore: 1 }, 9))).toBe('admitted')
  expect(() => requireRoom(limits, { memoryMib: 1, loadPerCore: 1 }, 0)).toThrow('ask again in 30 s')
})

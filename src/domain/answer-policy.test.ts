import { expect, test } from 'vitest'
import { mayAgentAnswer } from './answer-policy.ts'

const permission = (what: string | undefined) => ({
  reason: 'permission' as const,
  operation: what === undefined ? undefined : { kind: 'command' as const, what },
})
const kindOf = (...asked: Parameters<typeof mayAgentAnswer>) => mayAgentAnswer(...asked).kind

test('by default a supervisor answers questions, and everything else is the person’s', () => {
  const all = (['question', 'permission', 'trust', 'login', 'update'] as const).map((reason) => [
    reason,
    mayAgentAnswer({ reason }).kind,
  ])
  expect(Object.fromEntries(all)).toEqual({
    question: 'allowed',
    permission: 'refused',
    trust: 'refused',
    login: 'refused',
    update: 'refused',
  })
})

test('no rule of a profile hands trust, login or an update to an agent', () => {
  const rules = ['question', 'permission', 'permission(*)', 'trust', 'login', 'update']
  for (const reason of ['trust', 'login', 'update'] as const) expect(kindOf({ reason }, rules)).toBe('refused')
})

test('a pattern allows what it covers whole, and never a second command', () => {
  const rules = ['permission(git status*)', 'permission(npm test)']
  expect(
    [
      'git status',
      'git status -s',
      'npm test',
      'npm test x',
      'sudo git status',
      'git status; rm -rf /',
      'git status $(id)',
      'git status\nid',
      'git status > x',
    ].map((what) => [what, kindOf(permission(what), rules)]),
  ).toEqual([
    ['git status', 'allowed'],
    ['git status -s', 'allowed'],
    ['npm test', 'allowed'],
    ['npm test x', 'refused'],
    ['sudo git status', 'refused'],
    ['git status; rm -rf /', 'refused'],
    ['git status $(id)', 'refused'],
    ['git status\nid', 'refused'],
    ['git status > x', 'refused'],
  ])
})

test('what it would do must be known for a pattern, and not for a plain permission', () => {
  expect([kindOf(permission(undefined), ['permission(*)']), kindOf(permission(undefined), ['permission'])]).toEqual([
    'refused',
    'allowed',
  ])
})

test('a profile may leave all to the person', () => {
  expect(mayAgentAnswer({ reason: 'question' }, [])).toEqual({
    kind: 'refused',
    why: 'its profile leaves its questions to the person (supervisorMayAnswer)',
  })
})

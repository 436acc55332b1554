import { expect, test } from 'vitest'
import { matchRules, type ScreenRule } from './rules.ts'

type Region = 'bottom' | 'footer'
const rule = (name: string, changes: Partial<ScreenRule<Region, string>>): ScreenRule<Region, string> => ({
  name,
  priority: 1,
  region: 'bottom',
  says: name,
  ...changes,
})
const winner = (rules: readonly ScreenRule<Region, string>[], bottom: string | undefined, footer?: string) =>
  matchRules(rules, { bottom, footer })?.rule.name

test('all must match, one of any must, none of not may', () => {
  const rules = [rule('a', { all: [/x/, /y/], any: [/1/, /2/], not: [/z/] })]
  expect(['xy1', 'yx2', 'x1', 'xy', 'xy1z', ''].map((text) => winner(rules, text))).toEqual([
    'a',
    'a',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('the highest priority wins, among equals the first', () => {
  const rules = [rule('low', {}), rule('first', { priority: 5 }), rule('second', { priority: 5 })]
  expect(winner(rules, 'text')).toBe('first')
})

test('a region that is not on the screen matches nothing, an empty one may', () => {
  const rules = [rule('footer', { region: 'footer', priority: 9 }), rule('bottom', {})]
  expect(winner(rules, 'text')).toBe('bottom')
  expect(winner(rules, 'text', '')).toBe('footer')
  expect(winner(rules, undefined)).toBeUndefined()
})

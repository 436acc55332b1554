import { describe, expect, test } from 'vitest'
import { parsePattern } from './pattern.ts'
import { parseRuleFile, rulesMax, toRuleData } from './rule-file.ts'
import { replaceRules, type ScreenRule } from './rules.ts'

const context = { origin: 'example.yaml', regions: ['footer', 'title'], names: ['working footer'] }
const good = { name: 'mine', priority: 10, region: 'footer', all: ['^busy', '/esc/i'], says: 'busy' }
const faultsOf = (data: unknown) => {
  const outcome = parseRuleFile(data, context)
  return outcome.kind === 'faults' ? outcome.faults : []
}

describe('parseRuleFile', () => {
  test('reads rules and names that are switched off, and they go back into the same data', () => {
    const data = { ...good, also: [{ region: 'title', not: ['^x'] }], versions: '2.0' }
    const outcome = parseRuleFile({ rules: [data], off: ['working footer'] }, context)
    if (outcome.kind !== 'rules') throw new Error(outcome.faults.join())
    expect(outcome.changes.off).toEqual(['working footer'])
    expect(outcome.changes.rules[0]).toMatchObject({ all: [/^busy/, /esc/i], origin: 'example.yaml' })
    expect(outcome.changes.rules.map(toRuleData)).toEqual([data])
  })

  test.each([
    ['nothing', undefined, 'the file: holds no "rules"'],
    ['another key', { rule: [] }, 'the file: "rule" is none of rules, off'],
    ['another key of a rule', { rules: [{ ...good, regions: 'x' }] }, 'rule 1 ("mine"): "regions" is none of'],
    [
      'an unknown region',
      { rules: [{ ...good, region: 'head' }] },
      'rule 1 ("mine"): "region" is one of footer, title',
    ],
    ['an unknown word', { rules: [{ ...good, says: 'done' }] }, 'rule 1 ("mine"): "says" is one of ready,'],
    ['no priority', { rules: [{ ...good, priority: 'high' }] }, 'rule 1 ("mine"): "priority" is no number'],
    ['no name', { rules: [{ ...good, name: '' }] }, 'rule 1 (""): "name" is a text'],
    ['no pattern', { rules: [{ ...good, all: undefined }] }, 'rule 1 ("mine"): has no pattern'],
    ['a broken pattern', { rules: [{ ...good, all: ['('] }] }, 'rule 1 ("mine"), all: the pattern "(" is refused'],
    ['one name twice', { rules: [good, good] }, 'rule "mine": stands twice'],
    ['to switch off what is not there', { off: ['working'] }, 'off: there is no built-in rule "working"'],
    [
      'too many rules',
      { rules: Array.from({ length: rulesMax + 1 }, (_, at) => ({ ...good, name: `n${at}` })) },
      'rules: has',
    ],
  ])('refuses %s, and says where', (_what, data, fault) => {
    expect(faultsOf(data)).toEqual([expect.stringContaining(fault)])
  })
})

describe('parsePattern', () => {
  test.each([
    '(a+)+$',
    '(?:a*)*',
    '((a+)b?)*',
    '(x{2,})+',
    String.raw`(a)\1`,
    '(?<=a)b',
    'a'.repeat(501),
    '/a/g',
    'a*'.repeat(9),
  ])('refuses %s', (text) => {
    expect(parsePattern(text).kind).toBe('refused')
  })

  test.each([
    String.raw`^[✶✻] \S+… \(\d+s`,
    '(?:ab)+c',
    '[(+*)]+',
    String.raw`\(a+\)+`,
    '(a{2})+',
    '(?=a)b',
    '(?:one|two)',
  ])('takes %s', (text) => {
    expect(parsePattern(text).kind).toBe('pattern')
  })
})

test('a rule of a person takes the place of the built-in one of the same name; others are added or taken away', () => {
  const rule = (name: string, priority: number): ScreenRule => ({ name, priority, region: 'footer', says: 'busy' })
  const changes = { rules: [rule('b', 9), rule('d', 1)], off: ['c'] }
  expect(replaceRules([rule('a', 1), rule('b', 1), rule('c', 1)], changes)).toEqual([
    rule('a', 1),
    rule('b', 9),
    rule('d', 1),
  ])
})

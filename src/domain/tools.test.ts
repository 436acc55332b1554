import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowsServer, allowsTool, cliTools, intersectTools, isKnownTool, type ToolList } from './tools.ts'

const words = [
  ...cliTools,
  'fs_*',
  '*',
  '@builtin',
  'discovery',
  '@docs',
  '@docs/search',
  '@docs/*',
  '@docs2',
  '@d*',
  'odd',
]
const entry = fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 6 }))
const list: fc.Arbitrary<ToolList> = fc.option(fc.array(entry, { maxLength: 6 }), { nil: undefined })
/** What an agent could call: a tool, never a group of them. */
const tool = fc
  .oneof(
    fc.constantFrom(...cliTools, '@docs', '@docs/search', '@docs/x', '@docs2/x', '@other', 'odd'),
    fc.string({ maxLength: 8 }),
  )
  .filter((one) => !one.endsWith('*'))

describe('what two lists have in common', () => {
  test('is exactly what each of them allows', () => {
    fc.assert(
      fc.property(list, list, tool, (one, other, asked) => {
        const both = allowsTool(one, asked) && allowsTool(other, asked)
        expect(allowsTool(intersectTools(one, other), asked)).toBe(both)
      }),
      { numRuns: 2_000 },
    )
  })

  test('does not depend on which comes first, and is the list itself with itself', () => {
    fc.assert(
      fc.property(list, list, tool, (one, other, asked) => {
        const there = allowsTool(intersectTools(one, other), asked)
        expect(allowsTool(intersectTools(other, one), asked)).toBe(there)
        expect(allowsTool(intersectTools(one, one), asked)).toBe(allowsTool(one, asked))
        const again = intersectTools(intersectTools(one, other), other)
        expect(allowsTool(again, asked)).toBe(there)
      }),
      { numRuns: 2_000 },
    )
  })

  test('never grows along a chain of launches', () => {
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), tool, (chain, asked) => {
        const last = chain.reduce<ToolList>((launcher, own) => intersectTools(own, launcher), undefined)
        if (allowsTool(last, asked)) for (const one of chain) expect(allowsTool(one, asked)).toBe(true)
      }),
    )
  })

  test.each<[ToolList, ToolList, ToolList]>([
    [['fs_*', 'execute_bash'], ['fs_read', 'web_fetch'], ['fs_read']],
    [['*'], ['fs_read'], ['fs_read']],
    [undefined, ['fs_read'], ['fs_read']],
    [['fs_read'], undefined, ['fs_read']],
    [undefined, undefined, undefined],
    [['fs_read'], [], []],
    [['@docs'], ['@docs/search', '@git'], ['@docs/search']],
    [['@builtin', 'fs_*'], ['@builtin', 'execute_bash'], ['@builtin']],
    [['fs_read'], ['fs_readme'], []],
    [['@docs'], ['@docs2'], []],
  ])('of %j and %j is %j', (one, other, expected) => {
    expect(intersectTools(one, other)).toEqual(expected)
  })
})

test('a server is there for one of its tools, too', () => {
  expect([
    allowsServer(['@docs/search'], 'docs'),
    allowsServer(['@docs2'], 'docs'),
    allowsServer(undefined, 'docs'),
  ]).toEqual([true, false, true])
})

test.each([
  ['fs_read', true],
  ['fs_*', true],
  ['web_*', true],
  ['@builtin', true],
  ['@my-server/tool', true],
  ['discovery', true],
  ['teleport', false],
  ['tele*', false],
  ['@', false],
])('%j is known: %j', (word, isKnown) => {
  expect(isKnownTool(word)).toBe(isKnown)
})

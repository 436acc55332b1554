import { expect, test } from 'vitest'
import { addCatalogue, catalogueSkillsMax } from './skill-catalogue.ts'

const skill = (name: string, fault?: string) => ({
  name,
  description: `about ${name}`,
  dir: '',
  isBuiltIn: false,
  fault,
})
const skills = [skill('deploy'), skill('review-code'), skill('review-docs'), skill('broken', 'no description')]
const named = (patterns: readonly string[] | undefined) =>
  [...(addCatalogue('', { skills, patterns, tools: undefined }) ?? '').matchAll(/^- ([^:]+):/gm)].map(
    ([, name]) => name,
  )

test('stands below the prompt, each skill in one line, and says by which tool one is loaded', () => {
  const prompt = addCatalogue('You build.\n', { skills: [skill('deploy')], patterns: undefined, tools: undefined })
  expect(prompt).toBe(
    'You build.\n\n## Skills\n\nInstructions that you can load with the tool `load_skill`, by name, before you do what one is about:\n\n- deploy: about deploy',
  )
})

test.each([
  [undefined, ['deploy', 'review-code', 'review-docs']],
  [[], []],
  [['review-*'], ['review-code', 'review-docs']],
  [
    ['deplo?', 'review-docs'],
    ['deploy', 'review-docs'],
  ],
  [['*'], ['deploy', 'review-code', 'review-docs']],
  [['.*', 'review', '[a-z]+', '(a+)+$'], []],
])('a profile that names %j is told of %j', (patterns, expected) => {
  expect(named(patterns)).toEqual(expected)
})

test('an agent without the tools of CAO is told of none, and without a prompt it gets none', () => {
  const catalogue = { skills, patterns: undefined, tools: ['fs_read'] }
  expect(addCatalogue('You read.', catalogue)).toBe('You read.')
  expect(addCatalogue('  ', catalogue)).toBeUndefined()
  expect(addCatalogue('', { ...catalogue, tools: ['@cao-mcp-server/load_skill'] })).toMatch(/^## Skills/)
})

test('a hundred long ones are cut, and what is left out is counted', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ ...skill(`s${index}`), description: 'x'.repeat(1_000) }))
  const lines = (addCatalogue('', { skills: many, patterns: undefined, tools: undefined }) ?? '').split('\n')
  expect(lines.at(-1)).toBe(`- and ${100 - catalogueSkillsMax} more that are not listed here`)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(320)
})

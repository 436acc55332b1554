/** What is wrong with one value, in our words: the schema library's own name types and signs ("expected number, received string"). Pure. */
import type { z } from 'zod'

const nouns: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
}
const units: Readonly<Record<string, string>> = { string: ' characters', array: ' elements', set: ' elements' }

/** Undefined: the schema's own sentence stands. Never repeats the value, which may be a secret. */
export function problemOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return problemOfType(issue.input, issue.expected)
  if (issue.code === 'invalid_value') {
    return issue.input === undefined ? 'is missing' : `must be one of ${issue.values.map(String).join(', ')}`
  }
  if (issue.code === 'too_small') {
    if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
    return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${units[issue.origin] ?? ''}`
  }
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${units[issue.origin] ?? ''}`
  if (issue.code === 'invalid_format' && issue.format === 'uuid') return 'must be a UUID'
  return issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined
}

function problemOfType(input: unknown, expected: string): string {
  if (input === undefined) return 'is missing'
  return expected === 'int' ? 'must be a whole number' : `must be ${nouns[expected] ?? `a ${expected}`}`
}

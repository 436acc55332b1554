import { expect, test } from 'vitest'
import { nearWords } from './near-words.ts'

const known = ['server.port', 'server.host', 'terminal.recover', 'logging.level']

test.each([
  ['server.prot', ['server.port', 'server.host']],
  ['SERVER.PORT', ['server.port', 'server.host']],
  ['level', ['logging.level']],
  ['logging.levle', ['logging.level']],
  ['quite another thing', []],
  ['', []],
  ['x'.repeat(10_000), []],
])('%s is near to what was meant, and to nothing else', (word, expected) => {
  expect(nearWords(word, known)).toEqual(expected)
})

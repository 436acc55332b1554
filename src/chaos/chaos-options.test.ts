import { expect, test } from 'vitest'
import { parseChaosOptions } from './chaos-options.ts'

test('without flags it is a short run of seed 1', () => {
  expect(parseChaosOptions([])).toEqual({ seed: 1, durationMs: 60_000, agents: 6, hasFaults: true, help: false })
})

test('flags are read, fractions of minutes too', () => {
  expect(parseChaosOptions(['--seed', '7', '--minutes', '0.5', '--agents', '20', '--no-faults'])).toEqual({
    seed: 7,
    durationMs: 30_000,
    agents: 20,
    hasFaults: false,
    help: false,
  })
})

test.each([
  [['--seed', 'x']],
  [['--minutes', '0']],
  [['--agents', '2.5']],
  [['--agents', '1000']],
  [['--what']],
  [['more']],
])('%j is refused with a sentence', (words) => {
  expect(() => parseChaosOptions(words)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
})

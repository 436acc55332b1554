import { expect, test } from 'vitest'
import { findResetTime, resetMsMax } from './reset-time.ts'

/** 10:00 of the local day. */
const now = new Date(2026, 5, 1, 10, 0, 0, 0).getTime()
const at = (hour: number, minute = 0, day = 1) => new Date(2026, 5, day, hour, minute).getTime()

test.each([
  ['5-hour limit reached ∙ resets 3pm', at(15)],
  ['You have hit your limit, resets at 15:30', at(15, 30)],
  ['Try again at 9:05 AM', at(9, 5, 2)],
  ['rate limited, resets 12am', at(0, 0, 2)],
  ['429 Too Many Requests: please try again in 20s', now + 20_000],
  ['Retry after 1.5 minutes', now + 90_000],
  ['try again in 2h 5m', now + 7_500_000],
  ['try again in 1 day and 2 hours', now + 26 * 3_600_000],
  [`limit ends ${new Date(now + 60_000).toISOString()}`, now + 60_000],
])('%s', (sentence, expected) => {
  expect(findResetTime(sentence, now)).toBe(expected)
})

test.each([
  ['429 rate limited'],
  ['error at 3'],
  ['resets at 25:00'],
  ['retrying in a moment'],
  [`since ${new Date(now - 60_000).toISOString()}`],
  [`in ${resetMsMax / 86_400_000 + 1} days`],
])('%s: it does not tell', (sentence) => {
  expect(findResetTime(sentence, now)).toBeUndefined()
})

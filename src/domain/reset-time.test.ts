import { expect, test } from 'vitest'
import { findLimitEnd, findResetTime, resetMsMax } from './reset-time.ts'

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
  ["You've hit your usage limit. Try again at Jun 5th, 2026 3:05 PM.", at(15, 5, 5)],
  ['weekly limit reached, resets Jun 3 at 10am', at(10, 0, 3)],
  ['resets Jun 2, 15:00', at(15, 0, 2)],
  [`limit ends ${new Date(now + 60_000).toISOString()}`, now + 60_000],
])('%s', (sentence, expected) => {
  expect(findResetTime(sentence, now)).toBe(expected)
})

test('only of an agent that a limit holds', () => {
  const limited = { reason: 'rate_limited', detail: 'try again in 20s', sinceMs: now } as const
  expect(findLimitEnd(limited)).toBe(now + 20_000)
  expect(findLimitEnd({ ...limited, reason: 'api_error' })).toBeUndefined()
  expect(findLimitEnd({ ...limited, detail: undefined })).toBeUndefined()
})

test.each([
  ['429 rate limited'],
  ['error at 3'],
  ['resets at 25:00'],
  ['since May 3'],
  ['resets Dec 24 at 10am'],
  ['retrying in a moment'],
  [`since ${new Date(now - 60_000).toISOString()}`],
  [`in ${resetMsMax / 86_400_000 + 1} days`],
])('%s: it does not tell', (sentence) => {
  expect(findResetTime(sentence, now)).toBeUndefined()
})

/**
 * When a rate limit ends, by the words of the CLI that met it: "resets at 3pm", "try again in 20s", "Jan 5th, 2026 3:05 PM", an ISO time. Vendors put it into the
 * sentence only, and a clock time is of the person's own time zone. Pure but for that time zone.
 */
import type { StatusReason } from './status.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const dayMs = 86_400_000
/** A later end is a misreading, or a limit that nobody waits for at the keyboard. Units: ms. */
export const resetMsMax = 7 * dayMs

/** Of an agent in that state; undefined: no limit holds it, or nobody told how long. Milliseconds since 1970. */
export function findLimitEnd({ reason, detail, sinceMs }: Limited): number | undefined {
  return reason === 'rate_limited' && detail !== undefined ? findResetTime(detail, sinceMs) : undefined
}

type Limited = { readonly reason: StatusReason; readonly detail: string | undefined; readonly sinceMs: number }

/** Milliseconds since 1970; undefined: it does not tell. `saidAtMs`: when the sentence was seen. */
export function findResetTime(sentence: string, saidAtMs: number): number | undefined {
  const atMs =
    findIso(sentence) ??
    findSpan(sentence, saidAtMs) ??
    findDay(sentence, saidAtMs) ??
    findClockTime(sentence, saidAtMs)
  return atMs !== undefined && atMs > saidAtMs && atMs <= saidAtMs + resetMsMax ? atMs : undefined
}

function findIso(sentence: string): number | undefined {
  const [found] = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(sentence) ?? []
  const atMs = found === undefined ? Number.NaN : Date.parse(found)
  return Number.isNaN(atMs) ? undefined : atMs
}

/** "in 2h 5m", "after 30 seconds", "retry in 1 minute". */
function findSpan(sentence: string, saidAtMs: number): number | undefined {
  const [, span = ''] =
    /\b(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[smhd])\b[\s,]*(?:and\s+)?)+)/i.exec(
      sentence,
    ) ?? []
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)\s*([smhd])/gi)]
  if (parts.length === 0) return undefined
  return (
    saidAtMs + parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit.toLowerCase()] ?? 0), 0)
  )
}

/** "resets 3pm", "resets at 15:30", "try again at 9:05 AM": the next time that the clock shows it. */
function findClockTime(sentence: string, saidAtMs: number): number | undefined {
  const [whole, clock = ''] =
    new RegExp(String.raw`\b(?:resets?|again|until|at)\s+(?:at\s+)?${clockForm}`, 'i').exec(sentence) ?? []
  const at = whole === undefined ? undefined : setClock(new Date(saidAtMs), clock)
  if (at === undefined) return undefined
  return at > saidAtMs ? at : at + dayMs
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayForm = String.raw`\b(${months.join('|')})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b,?(?:\s+(\d{4})\b,?)?`

/** "Jan 5th, 2026 3:05 PM", "Oct 9 at 10am", "Oct 9, 15:00": without a year the next such day. */
function findDay(sentence: string, saidAtMs: number): number | undefined {
  const [whole, month = '', day, year, clock = ''] =
    new RegExp(String.raw`${dayForm}\s+(?:at\s+)?${clockForm}`, 'i').exec(sentence) ?? []
  if (whole === undefined) return undefined
  const said = new Date(saidAtMs)
  const inYear = (of: number) => setClock(new Date(of, months.indexOf(month.toLowerCase()), Number(day)), clock)
  if (year !== undefined) return inYear(Number(year))
  const at = inYear(said.getFullYear())
  return at === undefined || at > saidAtMs ? at : inYear(said.getFullYear() + 1)
}

const clockForm = String.raw`(\d{1,2}(?::\d\d)?\s*(?:[ap]m)?)\b`

/** That day at "3pm", "3:05 PM" or "15:05"; undefined: a bare number is no time. Milliseconds since 1970. */
function setClock(day: Date, clock: string): number | undefined {
  const [, hourText, minuteText, half] = /^(\d{1,2})(?::(\d\d))?\s*([ap]m)?$/i.exec(clock.trim()) ?? []
  if (half === undefined && minuteText === undefined) return undefined
  const hour = half === undefined ? Number(hourText) : (Number(hourText) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const minute = Number(minuteText ?? 0)
  return hour > 23 || minute > 59 ? undefined : new Date(day).setHours(hour, minute, 0, 0)
}

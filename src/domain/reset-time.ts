/**
 * When a rate limit ends, by the words of the CLI that met it: "resets at 3pm", "try again in 20s", an ISO time. Vendors put it into the
 * sentence only, and a clock time is of the person's own time zone. Pure but for that time zone.
 */

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const dayMs = 86_400_000
/** A later end is a misreading, or a limit that nobody waits for at the keyboard. Units: ms. */
export const resetMsMax = 7 * dayMs

/** Milliseconds since 1970; undefined: it does not tell. `saidAtMs`: when the sentence was seen. */
export function findResetTime(sentence: string, saidAtMs: number): number | undefined {
  const atMs = findIso(sentence) ?? findSpan(sentence, saidAtMs) ?? findClockTime(sentence, saidAtMs)
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
  const [whole, hourText, minuteText = '0', half] =
    /\b(?:resets?|reset|again|until|at)\s+(?:at\s+)?(\d{1,2})(?::(\d\d))?\s*([ap]m)?\b/i.exec(sentence) ?? []
  if (whole === undefined || (half === undefined && !whole.includes(':'))) return undefined
  const hour = half === undefined ? Number(hourText) : (Number(hourText) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  if (hour > 23 || Number(minuteText) > 59) return undefined
  const at = new Date(saidAtMs)
  at.setHours(hour, Number(minuteText), 0, 0)
  return at.getTime() > saidAtMs ? at.getTime() : at.getTime() + dayMs
}

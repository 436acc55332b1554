/** What a person can be told of by a command or a webhook, and the hours in which they want to hear nothing. Pure. */
export const noticeKinds = ['question', 'stuck', 'ended', 'lost', 'finished', 'worktree'] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** `finished` is left out: with every handed-off task it would be a flood. */
export const noticeKindsDefault = ['question', 'stuck', 'ended', 'lost', 'worktree'] as const satisfies NoticeKind[]

export const isNoticeKind = (word: string): word is NoticeKind => noticeKinds.some((kind) => kind === word)

/** From the first minute on, up to the second, in local time; it may go over midnight. Units: minutes after midnight. */
export type QuietHours = { readonly fromMinute: number; readonly toMinute: number }

/** `22:00-07:30`; undefined when it is no such text, or no time at all. */
export function parseQuietHours(text: string): QuietHours | undefined {
  const found = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/.exec(text)
  if (found === null) return undefined
  const [fromHour = 0, fromMinutes = 0, toHour = 0, toMinutes = 0] = found.slice(1).map(Number)
  const hours = { fromMinute: fromHour * 60 + fromMinutes, toMinute: toHour * 60 + toMinutes }
  return hours.fromMinute === hours.toMinute ? undefined : hours
}

export function formatQuietHours({ fromMinute, toMinute }: QuietHours): string {
  const format = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
  return `${format(fromMinute)}-${format(toMinute)}`
}

/** Whether it is quiet at a minute of the day. */
export function isQuiet({ fromMinute, toMinute }: QuietHours, minute: number): boolean {
  if (fromMinute < toMinute) return minute >= fromMinute && minute < toMinute
  return minute >= fromMinute || minute < toMinute
}

export function minuteOfDay(atMs: number): number {
  const at = new Date(atMs)
  return at.getHours() * 60 + at.getMinutes()
}

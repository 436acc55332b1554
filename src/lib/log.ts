/**
 * Structured logging as an interface; where lines go is decided in `main/`.
 * The message is a constant, variables are fields, child loggers carry ids.
 */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  write(level: LogLevel, message: string, fields?: LogFields): void
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Log
}

/** Drops every line; for tests and for callers that have no log. */
export const silentLog: Log = {
  write() {},
  child() {
    return silentLog
  },
}

/** What JSON drops or refuses: an error keeps its words, a bigint its digits. */
function toPlain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (!(value instanceof Error)) return value
  const { name, message, cause } = value
  return { name, message, ...('code' in value && { code: value.code }), ...(cause !== undefined && { cause }) }
}

/** What JSON leaves as it is and a terminal may obey: DEL and C1 (ECMA-48), and what turns the direction of a line (Unicode TR9). */
const unescaped = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
const toEscape = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Errors: none; a log that throws would hide the fault that it was to tell of. */
function formatLine(line: LogFields): string {
  try {
    return JSON.stringify(line, toPlain).replace(unescaped, toEscape)
  } catch (error) {
    const { at, level, message } = line
    return JSON.stringify({ at, level, message, unloggable: String(error) })
  }
}

/**
 * A log that hands each line, as one JSON text without newline, to `sink`. A sink that throws (the disk is full) loses
 * lines and nothing else; the next line that it takes is preceded by one that says how many were lost.
 */
export function createJsonLog(sink: (line: string) => void, nowMs: () => number, least: LogLevel = 'info'): Log {
  const order: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error']
  let lostCount = 0
  const give = (line: string) => {
    try {
      const at = new Date(nowMs()).toISOString()
      if (lostCount > 0) sink(formatLine({ at, level: 'warn', message: 'log lines lost', count: lostCount }))
      lostCount = 0
      sink(line)
    } catch {
      lostCount++
    }
  }
  const make = (base: LogFields): Log => ({
    write(level, message, fields) {
      if (order.indexOf(level) < order.indexOf(least)) return
      give(formatLine({ ...base, ...fields, at: new Date(nowMs()).toISOString(), level, message }))
    },
    child: (fields) => make({ ...base, ...fields }),
  })
  return make({})
}

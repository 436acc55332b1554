import { expect, test } from 'vitest'
import { createJsonLog, silentLog } from './log.ts'

const at = '1970-01-01T00:00:05.000Z'

test('a line is one JSON text with the fields of its log and its own', () => {
  const lines: string[] = []
  const log = createJsonLog(
    (line) => lines.push(line),
    () => 5_000,
  )
  log.child({ terminalId: 'a' }).child({ part: 'inbox' }).write('warn', 'slow\npaint', { tookMs: 3 })
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    at,
    level: 'warn',
    message: 'slow\npaint',
    terminalId: 'a',
    part: 'inbox',
    tookMs: 3,
  })
})

test('lines below the least level are dropped, also by children', () => {
  const lines: string[] = []
  const log = createJsonLog(
    (line) => lines.push(line),
    () => 0,
    'warn',
  )
  log.write('info', 'no')
  log.child({}).write('debug', 'no')
  log.child({}).write('error', 'yes')
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['yes'])
})

test('the silent log has silent children', () => {
  silentLog.child({ a: 1 }).write('error', 'nobody hears')
  expect(silentLog.child({})).toBe(silentLog)
})

test('an error keeps its words and its cause, and a field can not take the place of the message', () => {
  const lines: string[] = []
  const log = createJsonLog(
    (line) => lines.push(line),
    () => 5_000,
  )
  const error = Object.assign(new Error('no room', { cause: new Error('below') }), { code: 'ENOSPC' })
  log.write('error', 'write failed', { error, size: 12n, message: 'mine' })
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    at,
    level: 'error',
    message: 'write failed',
    error: { name: 'Error', message: 'no room', code: 'ENOSPC', cause: { name: 'Error', message: 'below' } },
    size: '12',
  })
})

test('what can not be written as JSON does not throw', () => {
  const lines: string[] = []
  const log = createJsonLog(
    (line) => lines.push(line),
    () => 5_000,
  )
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  log.write('info', 'odd', { circle })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ at, level: 'info', message: 'odd' })
})

test('a sink that throws loses lines, and what follows says how many', () => {
  const lines: string[] = []
  let isFull = false
  const log = createJsonLog(
    (line) => {
      if (isFull) throw new Error('no space left')
      lines.push(line)
    },
    () => 0,
  )
  log.write('info', 'before')
  isFull = true
  log.write('info', 'lost')
  log.child({ id: 1 }).write('error', 'lost too')
  isFull = false
  log.write('info', 'after')
  log.write('info', 'and on')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ message: 'before' }),
    expect.objectContaining({ level: 'warn', message: 'log lines lost', count: 2 }),
    expect.objectContaining({ message: 'after' }),
    expect.objectContaining({ message: 'and on' }),
  ])
})

test('a line can not drive the terminal of whoever reads the log', () => {
  const lines: string[] = []
  const log = createJsonLog(
    (line) => lines.push(line),
    () => 0,
  )
  const name = 'a\u001b[2J\u009b31m\u007f\u202eb\u2028'
  log.write('info', 'made', { name })
  // oxlint-disable-next-line no-control-regex
  expect(lines[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ name })
})

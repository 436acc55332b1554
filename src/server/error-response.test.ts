import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createJsonLog } from '../lib/log.ts'
import { renderError } from './error-response.ts'

/** The answer, and how many lines the log got. */
function render(error: unknown): readonly [number, string | undefined, string, number] {
  let lines = 0
  const log = createJsonLog(
    () => lines++,
    () => 0,
  )
  const { status, body } = renderError(error, log, 'GET /x')
  return [status, body.code, JSON.stringify(body.detail), lines]
}

function thrown(act: () => void): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

test('what the system refuses about a file is told with the file and what to do, and is no bug', () => {
  // /dev/full is a disk without room; a file that the system denies needs a user who may be denied.
  expect(render(thrown(() => writeFileSync('/dev/full', 'x')))).toEqual([
    507,
    'STORAGE_FULL',
    expect.stringContaining('no room left'),
    0,
  ])
  const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/srv/x/terminals' })
  expect(render(denied)).toEqual([409, 'BLOCKED', expect.stringContaining('may not use /srv/x/terminals (EACCES)'), 0])
})

test('a file that is not there is a bug: the answer says nothing of it, the log does', () => {
  const missing = thrown(() => readFileSync('/nowhere/at/all'))
  expect(render(missing)).toEqual([500, 'INTERNAL', expect.stringContaining("the server's log says more"), 1])
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paneFormat, parsePane } from './pane-fields.ts'

/** A line as tmux would print it for these values. */
function print(values: Readonly<Record<string, string>>): Uint8Array {
  const line = paneFormat('@tag').replaceAll(
    /#\{(n:)?([a-z_@]+)\}/g,
    (_all, length: string | undefined, name: string) => {
      const value = values[name] ?? ''
      return length === undefined ? value : String(Buffer.byteLength(value))
    },
  )
  return Buffer.from(line)
}

const numbers = { pane_id: '%7', window_id: '@3', session_id: '$1', pane_pid: '42', pane_dead: '0', pane_pipe: '1' }

describe('the facts of a pane', () => {
  test('texts with any content come back exactly and never shift a field', () => {
    const any = fc.string({ unit: 'grapheme', maxLength: 12 })
    fc.assert(
      fc.property(fc.tuple(any, any, any, any, any), ([session_name, window_name, pane_title, tag, command]) => {
        const line = print({
          ...numbers,
          session_name,
          window_name,
          pane_title,
          '@tag': tag,
          pane_current_command: command,
        })
        expect(parsePane(line)).toMatchObject({
          paneId: '%7',
          pid: 42,
          hasPipe: true,
          sessionName: session_name,
          windowName: window_name,
          title: pane_title,
          tag,
          currentCommand: command,
        })
      }),
    )
  })

  test('what a missing pane prints, and a line that is cut or none of ours, is no pane', () => {
    const whole = print({ ...numbers, pane_title: 'title' })
    expect(
      [print({}), new Uint8Array(), whole.subarray(0, whole.length - 1), Buffer.from('%1|x')].map(parsePane),
    ).toEqual(Array.from({ length: 4 }))
  })

  test('an exit that tmux lost has no status; one it knows has', () => {
    expect(parsePane(print({ ...numbers, pane_dead: '1' }))).toMatchObject({ isDead: true, deadStatus: undefined })
    expect(parsePane(print({ ...numbers, pane_dead: '1', pane_dead_status: '0' }))).toMatchObject({ deadStatus: 0 })
  })
})

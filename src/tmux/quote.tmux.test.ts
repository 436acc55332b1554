import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPane, readPaneOption, renameWindow, setPaneOption } from './panes.ts'
import { type PrivateServer, startPrivateServer, tagOption } from './private-server.case.ts'
import { quote } from './quote.ts'

let tmux: PrivateServer
beforeAll(async () => {
  tmux = await startPrivateServer()
})
afterAll(async () => {
  await tmux[Symbol.asyncDispose]()
})

const hostile = [
  "'",
  '"',
  ';',
  '\\',
  '#{pid}',
  '#(touch x)',
  '$HOME',
  '~',
  '\n',
  '\t',
  '\x1b',
  '-x',
  '}',
  '{',
  '%',
  '🙂',
  '漢',
  '\x7f',
  ' ',
  '#',
  '#[',
]
const hostileText = fc.array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 3 })), {
  minLength: 1,
  maxLength: 8,
})
const withoutNul = hostileText.map((parts) => parts.join('').replaceAll('\0', '')).filter((value) => value !== '')

describe('quoting, as a real tmux reads it', () => {
  test('every byte string arrives exactly', async () => {
    const path = join(tmux.dir, 'saved')
    const check = async (value: string | Uint8Array) => {
      const line = `set-buffer -b q -- ${quote(value)} ; save-buffer -b q ${quote(path)} ; display-message -p done`
      const outcome = await tmux.connection.run(line, { replies: 3 })
      expect(outcome).toMatchObject({ kind: 'replied', replies: [{ ok: true }, { ok: true }, { ok: true }] })
      expect(readFileSync(path)).toEqual(Buffer.from(value))
    }
    const byte = fc.integer({ min: 1, max: 255 })
    const bytes = fc.array(byte, { minLength: 1, maxLength: 60 }).map((list) => Uint8Array.from(list))
    await check(Uint8Array.from({ length: 255 }, (_, index) => index + 1))
    for (const value of ['%-x', '%if', '%', '%%', '%12', '%1x']) await check(value)
    await fc.assert(fc.asyncProperty(fc.oneof(bytes, withoutNul), check), { numRuns: 150 })
  })

  test('a value quoted twice arrives exactly through the branch of a condition', async () => {
    const path = join(tmux.dir, 'nested')
    await fc.assert(
      fc.asyncProperty(withoutNul, async (value) => {
        const inner = `set-buffer -b q -- ${quote(value)} ; save-buffer -b q ${quote(path)}`
        await tmux.connection.run(`if-shell -F 1 ${quote(inner)}`, { replies: 'unknown' })
        expect(readFileSync(path, 'utf8')).toBe(Buffer.from(value).toString('utf8'))
      }),
      { numRuns: 60 },
    )
  })

  test('options of a pane hold what was set', async () => {
    const { paneId } = await tmux.open('sleep 60')
    for (const value of ['a"b\'c', ';', '$HOME', '#{pid}', 'x;', '-q', '🙂', 'trailing\\']) {
      expect(await setPaneOption(tmux.connection, paneId, '@v', value)).toEqual({ kind: 'done' })
      expect(await readPaneOption(tmux.connection, paneId, '@v')).toEqual({ kind: 'value', value })
    }
  })

  test('names of windows are literal: formats in them are neither expanded nor executed', async () => {
    const { paneId, windowId } = await tmux.open('sleep 60')
    const names = ['#(touch executed)', '#{pid}', '#S', '##', '100% #[bold]', 'a|b', '-t', '🙂 漢字', '\'"$;']
    for (const name of names) {
      expect(await renameWindow(tmux.connection, windowId, name)).toEqual({ kind: 'done' })
      const pane = await readPane(tmux.connection, paneId, tagOption)
      expect(pane).toMatchObject({ kind: 'found', facts: { windowName: name, tag: 'x' } })
    }
  })
})

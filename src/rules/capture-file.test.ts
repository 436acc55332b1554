import { describe, expect, test } from 'vitest'
import { factsOfName, mergeFacts, noFacts, parseFacts, toSnapshot } from './capture-file.ts'
import { maskSecrets } from './mask-secrets.ts'

const esc = '\u001b'

describe('toSnapshot', () => {
  test('takes colours, links and trailing blanks off, and finds the cursor that a program draws', () => {
    const text = `${esc}[1mhead${esc}[0m  \n${esc}]8;;http://x${esc}\\link${esc}]8;;${esc}\\\n❯ ab${esc}[7m ${esc}[0m   \n`
    expect(toSnapshot(text, { ...noFacts, title: 't', isAlternate: true, cols: 80, rows: 24 })).toEqual({
      lines: ['head', 'link', '❯ ab'],
      size: { cols: 80, rows: 24 },
      title: 't',
      isAlternate: true,
      cursor: { x: 4, y: 2, isVisible: false },
      mode: undefined,
      isInputOff: false,
      atMs: 0,
    })
  })

  test('a width that nobody told is that of the widest drawn line, not of a wrapped text', () => {
    expect(toSnapshot(`${'x'.repeat(150)}\n${'─'.repeat(100)}\n`, noFacts).size).toEqual({ cols: 100, rows: 2 })
    expect(toSnapshot('short\n', noFacts).size).toEqual({ cols: 80, rows: 1 })
  })
})

test('what is told wins over what stands beside the file, and that over the name', () => {
  const beside = parseFacts({ title: 'beside', x: 3, y: 4, visible: 1, cols: 120 })
  expect(mergeFacts({ ...noFacts, title: 'told' }, beside, factsOfName('/x-9/busy-80x24.ansi'))).toEqual({
    title: 'told',
    isAlternate: undefined,
    cols: 120,
    rows: 24,
    cursor: { x: 3, y: 4, isVisible: true },
  })
  expect(factsOfName('/screens/200x50/busy.txt')).toMatchObject({ cols: 200, rows: 50 })
  expect([factsOfName('/80x24/screens/busy.txt'), parseFacts('text')]).toEqual([noFacts, noFacts])
})

describe('maskSecrets', () => {
  test('covers the values of variables that are named as secrets, the longest first, and leaves all others', () => {
    const variables = {
      API_KEY: 'abcdef',
      LONG_TOKEN: 'abcdefghij',
      AUTHOR: undefined,
      HOME: '/home/dev',
      MY_SECRET: 'x',
    }
    expect(maskSecrets('abcdefghij abcdef /home/dev x', variables)).toBe('********** ****** /home/dev x')
  })

  test('covers what has the shape of a key', () => {
    const key = `sk-${'a1'.repeat(12)}`
    expect(maskSecrets(`key ${key}, a task-force`, {})).toBe(`key ${'*'.repeat(key.length)}, a task-force`)
  })
})

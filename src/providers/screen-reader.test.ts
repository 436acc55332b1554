import { describe, expect, test } from 'vitest'
import type { Snapshot } from '../screen/snapshot.ts'
import { createScreenReader } from './screen-reader.ts'

const snapshot = (text: string, title = ''): Snapshot => ({
  lines: text.split('\n'),
  size: { cols: 80, rows: 24 },
  title,
  isAlternate: false,
  cursor: { x: 0, y: 0, isVisible: true },
  mode: undefined,
  isInputOff: false,
  atMs: 0,
})

/** A program whose composer is a line that begins with `> `, and whose errors begin with `! `. */
const reader = createScreenReader({
  regions: ['last'],
  rules: [
    { name: 'error', priority: 9, region: 'last', all: [/^! /], says: 'api_error' },
    { name: 'login', priority: 8, region: 'last', all: [/^Log in/], says: 'login' },
    { name: 'working title', priority: 7, region: 'title', all: [/^\* /], says: 'busy' },
    { name: 'empty', priority: 1, region: 'composer', all: [/^empty$/], says: 'ready' },
    { name: 'draft', priority: 1, region: 'composer', all: [/^draft\nhello$/], says: 'nothing' },
  ],
  cut: ({ lines }) => {
    const last = lines.at(-1) ?? ''
    const text = last.startsWith('> ') ? last.slice(2) : undefined
    return {
      regions: { last },
      composer: text === undefined ? { kind: 'absent' } : text === '' ? { kind: 'empty' } : { kind: 'draft', text },
    }
  },
})
const read = (text: string, title?: string) => {
  const { claim, rule } = reader.read(snapshot(text, title))
  return { claim, rule }
}

describe('createScreenReader', () => {
  test('a rule may look at what every screen has: title, composer, alternate screen, bottom', () => {
    expect(read('> ', '* at it')).toEqual({ claim: { kind: 'busy', reason: 'turn' }, rule: 'working title' })
    expect(read('> ')).toEqual({ claim: { kind: 'ready', isStable: false }, rule: 'empty' })
    expect(read('> hello')).toEqual({ claim: undefined, rule: 'draft' })
    expect(reader.explain(snapshot('a\n\n> hello')).regions).toEqual({
      title: '',
      alternate: 'off',
      composer: 'draft\nhello',
      bottom: 'a\n> hello',
      last: '> hello',
    })
  })

  test('without code of the provider the region is the question, and the sentence of an error', () => {
    expect(read('Log in with a browser').claim).toEqual({
      kind: 'waiting',
      reason: 'login',
      question: { text: 'Log in with a browser', options: [], vendorId: undefined },
    })
    expect(read('! 500').claim).toEqual({ kind: 'failed', reason: 'api_error', detail: '! 500' })
  })

  test.each([
    ['a choice', 'What is new?\n\n  ❯ 1. Tell me\n    2. Skip', 'unknown choice'],
    ['a choice in a frame', '│ Update?      │\n│ ● 1) Now     │\n│   2) Later   │', 'unknown choice'],
    ['a list', 'Choose a style\n\n ❯ ✔ Auto\n     Dark\n     Light\n\n  1  function greet() {', 'unknown list'],
    ['a yes or no', 'Overwrite the settings? [y/N] ', 'unknown prompt'],
    ['a key that is waited for', 'A new version is there.\nPress Enter to continue', 'unknown prompt'],
  ])('where nothing can be typed, %s that nobody knows is a question to the person', (_what, text, rule) => {
    expect(reader.read(snapshot(text))).toMatchObject({
      rule,
      isGuess: true,
      claim: { kind: 'waiting', reason: 'question', question: { options: [] } },
    })
  })

  test.each([
    ['where there is a composer', '  ❯ 1. Tell me\n    2. Skip\n> x'],
    ['in what was said above', '[y/N]\nand then more text'],
    ['without a chosen one', '1. one\n2. two'],
    ['in the prompts of a conversation', '❯ do this\n  and that\n● done\n❯ and this\n  too'],
  ])('the same is none %s', (_where, text) => {
    expect(read(text)).toEqual({ claim: undefined, rule: 'none' })
  })
})

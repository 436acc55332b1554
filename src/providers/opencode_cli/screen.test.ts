import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { ScreenReading } from '../provider.ts'
import { planOpencodeAnswer } from './answer-keys.ts'
import { cutColumns } from './columns.ts'
import { readOpencodeScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '1.18.33', 'screens')
const sizes = readdirSync(folder)

function loadSnapshot(size: string, name: string): Snapshot {
  const [cols = 0, rows = 0] = size.split('x').map(Number)
  const text = readFileSync(join(folder, size, `${name}.txt`), 'utf8')
  const seen = JSON.parse(readFileSync(join(folder, size, `${name}.json`), 'utf8')) as {
    title: string
    x: number
    y: number
    visible: number
  }
  return {
    lines: text.split('\n').map((line) => line.trimEnd()),
    size: { cols, rows },
    title: seen.title,
    isAlternate: true,
    cursor: { x: seen.x, y: seen.y, isVisible: seen.visible === 1 },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const ready = { kind: 'ready', isStable: false } as const
const busy = { kind: 'busy', reason: 'turn' } as const
const empty = { kind: 'empty' } as const
const draft = (text: string) => ({ kind: 'draft', text }) as const
const permission = (text: string, options: readonly string[]) => ({
  claim: { kind: 'waiting', reason: 'permission', question: { text, options, vendorId: undefined } } as const,
  composer: { kind: 'absent' } as const,
})
const question = (text: string, options: readonly string[]) => ({
  claim: { kind: 'waiting', reason: 'question', question: { text, options, vendorId: undefined } } as const,
  composer: { kind: 'absent' } as const,
})

/** What each recorded screen says, at every size it was recorded at. */
const expected: Readonly<Record<string, Omit<ScreenReading, 'dialog'>>> = {
  home: { claim: undefined, rule: 'home', composer: empty },
  empty: { claim: ready, rule: 'quiet-footer', composer: empty },
  draft: { claim: ready, rule: 'quiet-footer', composer: draft('a draft of one line') },
  'draft-two-lines': { claim: ready, rule: 'quiet-footer', composer: draft('first line\nsecond 你好 line') },
  collapsed: { claim: ready, rule: 'quiet-footer', composer: { kind: 'collapsed', chars: undefined, lines: 13 } },
  completed: { claim: ready, rule: 'quiet-footer', composer: empty },
  busy: { claim: busy, rule: 'interrupt-footer', composer: empty },
  'busy-draft': { claim: busy, rule: 'interrupt-footer', composer: draft('half a draft') },
  queued: { claim: busy, rule: 'interrupt-footer', composer: empty },
  permission: {
    ...permission('Allow bash: echo allowed', ['Allow once', 'Allow always', 'Reject']),
    rule: 'permission-prompt',
  },
  'permission-always': {
    ...permission('△ Always allow\nThis will allow the following patterns until OpenCode is restarted\n- echo *', [
      'Confirm',
      'Cancel',
    ]),
    rule: 'always-prompt',
  },
  rejected: { claim: ready, rule: 'quiet-footer', composer: empty },
  question: { ...question('Which colour?', ['Red', 'Blue']), rule: 'question-prompt' },
  'question-multiple': {
    ...question(
      'Colour   Confirm\nWhich colours? (select all that apply)\n1. [ ] Red\nr\n2. [ ] Blue\nb\n3. [ ] Type your own answer',
      [],
    ),
    rule: 'tabs-prompt',
  },
  imitation: { claim: ready, rule: 'quiet-footer', composer: empty },
  palette: { claim: undefined, rule: 'covered', composer: { kind: 'absent' } },
  'slash-menu': { claim: ready, rule: 'quiet-footer', composer: draft('/') },
  'interrupt-once': { claim: busy, rule: 'interrupt-footer', composer: empty },
  interrupted: { claim: ready, rule: 'quiet-footer', composer: empty },
  retrying: { claim: { kind: 'busy', reason: 'retrying' }, rule: 'retrying-footer', composer: empty },
}

describe.each(sizes)('recorded screens of %s', (size) => {
  it.each(Object.entries(expected))('%s', (name, reading) => {
    expect(readOpencodeScreen(loadSnapshot(size, name))).toEqual({ ...reading, dialog: undefined })
  })

  it('are all looked at', () => {
    const names = readdirSync(join(folder, size)).flatMap((file) => (file.endsWith('.txt') ? [file.slice(0, -4)] : []))
    expect(names.sort()).toEqual(Object.keys(expected).sort())
  })

  it('say the same while the cursor is hidden between two pictures', () => {
    for (const [name, reading] of Object.entries(expected)) {
      const snapshot = loadSnapshot(size, name)
      const hidden = { ...snapshot, cursor: { ...snapshot.cursor, isVisible: false } }
      expect([name, readOpencodeScreen(hidden)]).toEqual([name, { ...reading, dialog: undefined }])
    }
  })
})

describe('planOpencodeAnswer', () => {
  const key = (name: string) => ({ kind: 'key', name }) as const
  const text = (value: string) => ({ kind: 'text', text: value }) as const
  const allow = {
    text: 'Allow bash: echo allowed',
    options: ['Allow once', 'Allow always', 'Reject'],
    vendorId: 'per_1',
  }
  const colour = { text: 'Which colour?', options: ['Red', 'Blue'], vendorId: 'que_1' }
  const on = (name: string) => loadSnapshot('80x24', name)

  it.each([
    ['Allow once', [key('Enter')]],
    ['yes', [key('Enter')]],
    ['2', [key('Right'), key('Enter'), key('Enter')]],
    ['reject', [key('Escape')]],
  ])('answers a permission with %s', (answer, keys) => {
    expect(planOpencodeAnswer(allow, answer, on('permission'))).toEqual({ kind: 'keys', keys })
  })

  it.each([
    ['blue', [text('2')]],
    ['1', [text('1')]],
  ])('answers a question with %s', (answer, keys) => {
    expect(planOpencodeAnswer(colour, answer, on('question'))).toEqual({ kind: 'keys', keys })
  })

  it.each([
    ['a word that is no choice', allow, 'perhaps', 'permission'],
    ['another permission', { ...allow, text: 'Allow bash: rm -r x' }, 'yes', 'permission'],
    ['another question', { ...colour, text: 'Which size?' }, 'Red', 'question'],
    ['a question when a permission is shown', colour, 'Red', 'permission'],
    ['a question with several answers', { ...colour, text: 'Colour' }, 'Red', 'question-multiple'],
    ['a permission that somebody is answering', { ...allow, text: '△ Always allow' }, 'yes', 'permission-always'],
    ['a screen without a question', colour, 'Red', 'completed'],
    ['a question that is only imitated', colour, 'Red', 'imitation'],
    ['an answer that is not offered', colour, 'a dark green', 'question'],
    ['an empty answer', colour, ' ', 'question'],
  ] as const)('refuses %s', (_, asked, answer, name) => {
    expect(planOpencodeAnswer(asked, answer, on(name)).kind).toBe('refused')
  })
})

describe('cutColumns', () => {
  it('counts wide characters twice and combining ones not at all', () => {
    expect([cutColumns('a你好b', 4), cutColumns('a你好b', 5), cutColumns('e\u0301x', 1)]).toEqual([
      'a你',
      'a你好',
      'e\u0301',
    ])
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import { planQwenAnswer } from './answer-keys.ts'
import { readQwenScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '0.24.4', 'screens')

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
    lines: text.split('\n'),
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
const empty = { kind: 'empty' } as const
const draft = (text: string) => ({ kind: 'draft', text })
const resting = { claim: ready, rule: 'resting-title', composer: empty, dialog: undefined }
const working = { claim: { kind: 'busy', reason: 'turn' }, rule: 'working-title', composer: empty, dialog: undefined }

const expected: Readonly<Record<string, object>> = {
  'idle-fresh': resting,
  completed: resting,
  'error-400': resting,
  interrupted: { ...resting, composer: draft('hang') },
  'typed-not-sent': { ...resting, composer: draft('reply hello from the model') },
  'pasted-not-sent': { ...resting, composer: { kind: 'collapsed', chars: 456, lines: undefined } },
  'slash-menu': { ...resting, composer: draft('/') },
  'busy-typed': { ...working, composer: draft('reply queued answer') },
  'busy-queued': working,
  'streaming-1': working,
  'processing-2': working,
  'tool-running': working,
  'error-500-retrying': working,
}
const asked: readonly string[] = ['trust', 'waiting-permission', 'waiting-mcp-permission']

describe.each(readdirSync(folder))('recorded screens of %s', (size) => {
  it.each(Object.entries(expected))('%s', (name, reading) => {
    expect(readQwenScreen(loadSnapshot(size, name))).toEqual(reading)
  })

  it('are all looked at', () => {
    const names = readdirSync(join(folder, size)).flatMap((file) => (file.endsWith('.txt') ? [file.slice(0, -4)] : []))
    expect(names.filter((name) => !(name in expected) && !asked.includes(name))).toEqual([])
  })

  it('say the same, or nothing, without the title', () => {
    const misread = Object.entries(expected).flatMap(([name, reading]) => {
      const { claim } = readQwenScreen({ ...loadSnapshot(size, name), title: '' })
      const right = (reading as { claim: object | undefined }).claim
      return claim === undefined || JSON.stringify(claim) === JSON.stringify(right) ? [] : [name]
    })
    expect(misread).toEqual([])
  })

  it.each([
    ['waiting-permission', 'permission', "Allow execution of: 'touch'?"],
    ['waiting-mcp-permission', 'permission', 'Allow execution of MCP tool "send_message" from server "orch"?'],
    ['trust', 'trust', 'Do you trust this folder?'],
  ])('%s is told with text and options', (name, reason, words) => {
    const { claim, composer, dialog } = readQwenScreen(loadSnapshot(size, name))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect([claim.reason, composer.kind, dialog?.answer]).toEqual([reason, 'absent', undefined])
    expect(claim.question.text).toContain(words)
    expect(claim.question.options.length).toBeGreaterThan(2)
  })
})

/** As printed in a pane of 80 columns. */
const question = (chosen: number, other = 'Type something...'): Snapshot => {
  const options = ['Red', 'Blue', other].map((label, at) => `   ${at === chosen ? '❯' : ' '} ${at + 1}. ${label}`)
  const rows = ['  ? AskUserQuestion Ask user 1 question ←', '', '   Question', '', '   Which colour?', '', ...options]
  const ending = ['', '   ↑/↓: Navigate | Enter: Select | Esc: Cancel', '']
  return {
    ...loadSnapshot('80x24', 'waiting-permission'),
    lines: [...[...rows, ...ending].map((row) => `${row.padEnd(79)}█`), '', '  ⠏ Waiting for user confirmation...'],
  }
}

describe('a screen', () => {
  it('with a question tells its options without the field for words of ones own', () => {
    const { claim } = readQwenScreen(question(0))
    expect(claim).toMatchObject({
      reason: 'question',
      question: { text: expect.stringContaining('Which colour?') as unknown, options: ['Red', 'Blue'] },
    })
  })

  it('whose title waits, and whose dialog is not drawn yet, says nothing', () => {
    const lines = ['  > do it', '', '']
    expect(readQwenScreen({ ...question(0), lines })).toMatchObject({ claim: undefined })
  })

  it('with a draft for a shell is nobodys message', () => {
    const snapshot = loadSnapshot('80x24', 'idle-fresh')
    const lines = snapshot.lines.map((line) => line.replace(/^> {3}Type/, '!   Type'))
    expect(readQwenScreen({ ...snapshot, lines }).composer).toEqual(draft('!'))
  })

  it('of any lines is read without a fault', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('─'.repeat(80), '> x', '', ' › 1. a', '  b'))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        readQwenScreen({ ...question(0), lines })
      }),
    )
  })
})

describe('planQwenAnswer', () => {
  const permission = loadSnapshot('80x24', 'waiting-permission')
  const textOn = (snapshot: Snapshot) => {
    const { claim } = readQwenScreen(snapshot)
    if (claim?.kind !== 'waiting') throw new Error('no question')
    return claim.question
  }

  it.each([
    ['yes', '1'],
    ['always', '2'],
    ['no', '4'],
    ['3', '3'],
  ])('"%s" to a permission is one key', (answer, key) => {
    const plan = planQwenAnswer(textOn(permission), answer, permission)
    expect(plan).toEqual({ kind: 'keys', keys: [{ kind: 'text', text: key }] })
  })

  it('words of ones own are typed in the last option, step by step', () => {
    const give = (snapshot: Snapshot) => planQwenAnswer(textOn(question(0)), 'a warm green', snapshot)
    expect(give(question(0))).toMatchObject({ keys: [{ name: 'Down' }], isPartial: true })
    expect(give(question(2))).toMatchObject({ keys: [{ text: 'a warm green' }], isPartial: true })
    expect(give(question(2, 'a warm green\u200b '))).toEqual({ kind: 'keys', keys: [{ kind: 'key', name: 'Enter' }] })
    expect(give(question(2, 'something else'))).toMatchObject({ kind: 'refused' })
  })

  it('the answer to another question, or to none, is refused', () => {
    expect(planQwenAnswer(textOn(question(0)), 'Red', permission)).toMatchObject({ kind: 'refused' })
    const resting = loadSnapshot('80x24', 'idle-fresh')
    expect(planQwenAnswer(textOn(question(0)), 'Red', resting)).toMatchObject({ kind: 'refused' })
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import { planGeminiAnswer } from './answer-keys.ts'
import { readGeminiScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '0.61.0', 'screens')

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
    isAlternate: false,
    cursor: { x: seen.x, y: seen.y, isVisible: seen.visible === 1 },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const ready = { kind: 'ready', isStable: false } as const
const empty = { kind: 'empty' } as const
const resting = { claim: ready, rule: 'resting-title', composer: empty, dialog: undefined }
const working = { claim: { kind: 'busy', reason: 'turn' }, rule: 'working-title', composer: empty, dialog: undefined }
const allow = ['Allow once', 'Allow for this session', 'No, suggest changes (esc)']

const expected: Readonly<Record<string, object>> = {
  'idle-fresh': resting,
  'completed-after-tool': resting,
  'completed-with-hooks': resting,
  interrupted: resting,
  'error-400': resting,
  resumed: resting,
  'typed-not-sent': { ...resting, composer: { kind: 'draft', text: 'reply hello from the model' } },
  'slash-menu': { ...resting, composer: { kind: 'draft', text: '/' } },
  'busy-queued': working,
  'streaming-2': working,
  'processing-3': working,
  'processing-start-with-hooks': working,
  'tool-running': working,
  'mcp-handoff-running': working,
  'error-500-retrying': working,
}
const asked: readonly string[] = ['trust', 'waiting-permission', 'waiting-mcp-permission']

describe.each(readdirSync(folder))('recorded screens of %s', (size) => {
  it.each(Object.entries(expected))('%s', (name, reading) => {
    expect(readGeminiScreen(loadSnapshot(size, name))).toEqual(reading)
  })

  it('are all looked at', () => {
    const names = readdirSync(join(folder, size)).flatMap((file) => (file.endsWith('.txt') ? [file.slice(0, -4)] : []))
    expect(names.filter((name) => !(name in expected) && !asked.includes(name))).toEqual([])
  })

  it('say the same, or nothing, without the title', () => {
    const misread = Object.entries(expected).flatMap(([name, reading]) => {
      const { claim } = readGeminiScreen({ ...loadSnapshot(size, name), title: '' })
      const right = (reading as { claim: object | undefined }).claim
      return claim === undefined || JSON.stringify(claim) === JSON.stringify(right) ? [] : [name]
    })
    expect(misread).toEqual([])
  })

  it('a permission prompt is told with its options', () => {
    const { claim, composer } = readGeminiScreen(loadSnapshot(size, 'waiting-permission'))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect([claim.reason, composer.kind, claim.question.options]).toEqual(['permission', 'absent', allow])
    expect(claim.question.text).toMatch(
      /touch \/home\/dev\/proj\/gemini\/made-by-tool\n[^]*Allow execution of \[Shell\]\?$/,
    )
  })

  it("an MCP server's tool is told with its server", () => {
    const { claim } = readGeminiScreen(loadSnapshot(size, 'waiting-mcp-permission'))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect(claim.question.options).toHaveLength(4)
    expect(claim.question.text).toContain('Allow execution of MCP tool "send_message" from server "orch"?')
  })

  it('the trust dialog is left to the person', () => {
    const { claim, dialog } = readGeminiScreen(loadSnapshot(size, 'trust'))
    expect(claim).toMatchObject({ kind: 'waiting', reason: 'trust' })
    expect(dialog).toMatchObject({ reason: 'trust', answer: undefined })
  })
})

/** As printed in a pane of 80 columns. */
const frame = (...lines: readonly string[]): readonly string[] => [
  `╭${'─'.repeat(78)}╮`,
  ...lines.map((line) => `│ ${line.padEnd(77)}│`),
  `╰${'─'.repeat(78)}╯`,
]
const on = (...lines: readonly string[]): Snapshot => ({
  ...loadSnapshot('80x24', 'waiting-permission'),
  title: '✋  Action Required (proj)',
  lines: ['✦ I ask.', '', ...lines, ''],
})
const question = (options: readonly string[], ...tabs: readonly string[]) =>
  on(...frame('Answer Questions', '', ...tabs, 'Which colour?', '', ...options, '', 'Enter to select · Esc to cancel'))
const colours = ['● 1.  Red', '      red one', '  2.  Blue', '      blue one', '  3.  Enter a custom value']

describe('a screen', () => {
  it('with a question tells its options without the field for words of ones own', () => {
    const { claim } = readGeminiScreen(question(colours, '← □ Colour │ □ Name │ ≡ Review →', ''))
    expect(claim).toEqual({
      kind: 'waiting',
      reason: 'question',
      question: { text: 'Which colour?', options: ['Red', 'Blue'], vendorId: undefined },
    })
  })

  it.each([
    ['asks for a key', ['Enter Gemini API Key', '', 'Paste your API key here'], 'login'],
    ['asks what nobody knows', ['A loop was found', '', '● 1. Keep on', '  2. Stop'], 'question'],
  ])('that %s is a question to the person', (_, lines, reason) => {
    const { claim, dialog } = readGeminiScreen({ ...on(...frame(...lines)), title: '◇  Ready (proj)' })
    expect(claim).toMatchObject({ kind: 'waiting', reason })
    expect(dialog?.answer).toBe(undefined)
  })

  it('with the edges of many colours has the same composer', () => {
    const lines = [
      '─'.repeat(80),
      ' Shift+Tab to accept edits',
      '▄'.repeat(80),
      ' > one',
      '',
      '   two',
      '▀'.repeat(80),
      ' workspace (/directory)',
    ]
    const { composer } = readGeminiScreen({ ...loadSnapshot('80x24', 'idle-fresh'), lines })
    expect(composer).toEqual({ kind: 'draft', text: 'one\n\ntwo' })
  })

  it.each([
    [' > [Pasted Text: 30 lines]', { kind: 'collapsed', chars: undefined, lines: 30 }],
    [' > [Pasted Text: 900 chars]', { kind: 'collapsed', chars: 900, lines: undefined }],
    [' !   Type your shell command', { kind: 'draft', text: '!' }],
    [' ! ls', { kind: 'draft', text: '! ls' }],
    [' *   Type your message or @path/to/file', empty],
  ])('with the composer "%s" is read as such', (row, composer) => {
    const lines = ['─'.repeat(80), ' Shift+Tab to accept edits', '', row, '', ' workspace (/directory)']
    expect(readGeminiScreen({ ...loadSnapshot('80x24', 'idle-fresh'), lines }).composer).toEqual(composer)
  })

  it('on which the agent imitates work is known by the title to rest', () => {
    const snapshot = loadSnapshot('80x24', 'completed-after-tool')
    const lines = snapshot.lines.map((line) =>
      line.replace(/^ *\? for shortcuts/, ' ⠏ Thinking... (esc to cancel, 2s)'),
    )
    expect(readGeminiScreen({ ...snapshot, lines })).toMatchObject({ claim: ready, rule: 'resting-title' })
  })

  it('of any lines is read without a fault', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('─'.repeat(80), ' > x', '', ...frame('● 1. a'), '   b'))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        readGeminiScreen(on(...lines))
      }),
    )
  })
})

describe('planGeminiAnswer', () => {
  const permission = loadSnapshot('80x24', 'waiting-permission')
  const textOn = (snapshot: Snapshot) => {
    const { claim } = readGeminiScreen(snapshot)
    if (claim?.kind !== 'waiting') throw new Error('no question')
    return claim.question
  }
  const digit = (value: string) => ({ kind: 'keys', keys: [{ kind: 'text', text: value }] })

  it.each([
    ['yes', '1'],
    ['allow', '1'],
    ['always', '2'],
    ['no', '3'],
    ['2', '2'],
    ['Allow for this session', '2'],
  ])('"%s" to a permission is one key', (answer, key) => {
    expect(planGeminiAnswer(textOn(permission), answer, permission)).toEqual(digit(key))
  })

  it('words of ones own are typed in the last option, step by step', () => {
    const give = (snapshot: Snapshot) => planGeminiAnswer(textOn(question(colours)), 'a warm green', snapshot)
    const down = { kind: 'key', name: 'Down' }
    expect(give(question(colours))).toEqual({ kind: 'keys', keys: [down, down], isPartial: true })
    const there = (field: string) =>
      on(
        ...frame(
          'Answer Questions',
          '',
          'Which colour?',
          '',
          '  1.  Red',
          '  2.  Blue',
          `● 3.  ${field}`,
          '',
          'Enter to submit · Esc to cancel',
        ),
      )
    expect(give(there('Enter a custom value'))).toEqual({
      kind: 'keys',
      keys: [{ kind: 'text', text: 'a warm green' }],
      isPartial: true,
    })
    expect(give(there('a warm green'))).toEqual({ kind: 'keys', keys: [{ kind: 'key', name: 'Enter' }] })
    expect(give(there('something else'))).toMatchObject({ kind: 'refused' })
  })

  it.each([
    ['an answer that is none of the options', 'perhaps'],
    ['an empty one', ' '],
  ])('%s is refused', (_, answer) => {
    expect(planGeminiAnswer(textOn(permission), answer, permission)).toMatchObject({ kind: 'refused' })
  })

  it('the answer to another question, or to none, is refused', () => {
    expect(planGeminiAnswer(textOn(question(colours)), 'Red', permission)).toMatchObject({ kind: 'refused' })
    const resting = loadSnapshot('80x24', 'idle-fresh')
    expect(planGeminiAnswer(textOn(question(colours)), 'Red', resting)).toMatchObject({ kind: 'refused' })
  })
})

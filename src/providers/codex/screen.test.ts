import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import { planCodexAnswer } from './answer-keys.ts'
import { readCodexScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '0.171.0', 'screens')
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
const busy = (reason: 'turn' | 'retrying' = 'turn') => ({ kind: 'busy', reason }) as const
const empty = { kind: 'empty' } as const
const draft = (text: string) => ({ kind: 'draft', text }) as const
const key = (name: string) => ({ kind: 'key', name }) as const
const text = (value: string) => ({ kind: 'text', text: value }) as const
const resting = { claim: ready, rule: 'resting-title', composer: empty, dialog: undefined }
const working = { claim: busy(), rule: 'working-title', composer: empty, dialog: undefined }
const waiting = (rule: string, reason: string, asked: string, options: readonly string[]) => ({
  claim: { kind: 'waiting', reason, question: { text: asked, options, vendorId: undefined } },
  rule,
  composer: { kind: 'absent' },
  dialog: undefined,
})
const colours = (rule: string) => waiting(rule, 'question', 'Which colour?', ['Red', 'Blue'])

const expected: Readonly<Record<string, object>> = {
  fresh: resting,
  new: resting,
  completed: resting,
  interrupted: resting,
  'permission-refused': resting,
  'api-error': resting,
  background: resting,
  imitation: resting,
  draft: { ...resting, composer: draft('a draft') },
  'slash-menu': { ...resting, composer: draft('/mo') },
  'shell-mode': { ...resting, composer: draft('! ls') },
  collapsed: { ...resting, composer: { kind: 'collapsed', chars: 1440, lines: undefined } },
  busy: working,
  'tool-running': working,
  streaming: working,
  'streaming-draft': { ...working, composer: draft('a draft') },
  retrying: { ...working, claim: busy('retrying'), rule: 'reconnecting' },
  warnings: { claim: undefined, rule: 'warnings', composer: { kind: 'absent' }, dialog: undefined },
  permission: waiting(
    'command-approval',
    'permission',
    'Would you like to run the following command?\nEnvironment: local\nReason: The tests need it.\n$ touch allowed',
    [
      'Yes, proceed (y)',
      "Yes, and don't ask again for commands that start with `touch allowed` (p)",
      'No, and tell Codex what to do differently (esc)',
    ],
  ),
  'permission-tool': waiting(
    'tool-approval',
    'permission',
    'Allow the other MCP server to run tool "send_message"?\nmessage: hello',
    ['Allow', 'Allow for this session', 'Always allow', 'Cancel'],
  ),
  question: colours('question'),
  'question-notes': colours('notes-field'),
  'question-noted': colours('notes-field'),
}
const startDialogs: readonly string[] = ['trust', 'trust-subfolder', 'hooks-review', 'sign-in', 'update']
const wrapped: readonly string[] = ['draft-lines', 'permission-long']

describe.each(sizes)('recorded screens of %s', (size) => {
  it.each(Object.entries(expected))('%s', (name, reading) => {
    expect(readCodexScreen(loadSnapshot(size, name))).toEqual(reading)
  })

  it('are all looked at', () => {
    const names = readdirSync(join(folder, size)).flatMap((file) => (file.endsWith('.txt') ? [file.slice(0, -4)] : []))
    const known = [...Object.keys(expected), ...startDialogs, ...wrapped]
    expect(names.filter((name) => !known.includes(name))).toEqual([])
  })

  it('say the same, or nothing, without the title', () => {
    const misread = Object.entries(expected).flatMap(([name, reading]) => {
      const { claim } = readCodexScreen({ ...loadSnapshot(size, name), title: '' })
      const right = (reading as { claim: object | undefined }).claim
      return claim === undefined || JSON.stringify(claim) === JSON.stringify(right) ? [] : [name]
    })
    expect(misread).toEqual([])
  })

  it('a draft of several lines is read whole, whatever its lines look like', () => {
    const { composer } = readCodexScreen(loadSnapshot(size, 'draft-lines'))
    if (composer.kind !== 'draft') throw new Error('no draft')
    const words =
      'first line third line that is long enough to be wrapped in a narrow pane, and then some › 1. No option last'
    expect(composer.text.replaceAll(/\s+/g, ' ')).toBe(words)
  })

  it('a long command is told whole', () => {
    const { claim } = readCodexScreen(loadSnapshot(size, 'permission-long'))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    const command = claim.question.text.split('$ ')[1]?.replaceAll(/\s+/g, ' ')
    expect(command).toBe(
      'touch one two three && echo a command that is so long that it does not fit into a row of the narrow pane && touch four',
    )
  })

  it.each([
    ['trust', 'trust', 'Trust this folder?', 'Trust and continue'],
    ['trust-subfolder', 'trust', '/home/dev/git', 'Trust and continue'],
    ['hooks-review', 'trust', 'Hooks need review', 'Review hooks'],
    ['sign-in', 'login', 'Choose how you want to use Codex.', 'Sign in with ChatGPT'],
    ['update', 'update', 'Update available · 0.171.0 → 9.9.9', 'Update now'],
  ])('%s: the start dialog is left to the person', (name, reason, words, option) => {
    const { claim, dialog, composer } = readCodexScreen(loadSnapshot(size, name))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect(claim.reason).toBe(reason)
    expect(claim.question.text).toContain(words)
    expect(claim.question.options[0]).toContain(option)
    expect([dialog?.reason, dialog?.answer, composer.kind]).toEqual([reason, undefined, 'absent'])
  })
})

describe('a screen', () => {
  const snapshot = loadSnapshot('80x24', 'completed')
  const change = (from: string | RegExp, to: string, base = snapshot): Snapshot => ({
    ...base,
    lines: base.lines.map((line) => line.replace(from, to)),
  })

  it('with animations off is known to work by the word in its title', () => {
    const { title } = loadSnapshot('80x24', 'streaming')
    const still = { ...loadSnapshot('80x24', 'streaming'), title: title.replace(/^\S /, '') }
    expect(readCodexScreen(still)).toMatchObject({ claim: busy(), rule: 'working-title' })
  })

  it('is neither work nor rest while the program connects to its servers', () => {
    const title = snapshot.title.replace(/^Ready/, '⠙ Starting')
    expect(readCodexScreen({ ...snapshot, title })).toMatchObject({ claim: undefined, rule: 'starting-title' })
  })

  it('on which the agent imitates a working line is known by the title to rest', () => {
    const lines = change(/^ {2}Worked for .*/, '• Working (2s • esc to interrupt)')
    expect(readCodexScreen(lines)).toMatchObject({ claim: ready, rule: 'resting-title' })
  })

  it('with a dialog that nobody knows is a question with its options', () => {
    const other = change('Trust this folder?', 'Feed the cat?', loadSnapshot('80x24', 'trust'))
    const { claim, dialog } = readCodexScreen(other)
    expect(claim).toMatchObject({
      reason: 'question',
      question: { options: ['Trust and continue', 'Back to Agent Command Center'] },
    })
    expect(dialog).toBe(undefined)
  })

  it.each([
    [
      'at rest',
      ['│ >_ OpenAI Codex (v0.145.0)  │', '', '› Explain this codebase', '', '  m · Context 9% left'],
      ready,
      'empty',
    ],
    ['at rest without a blank row', ['>_ OpenAI Codex (v0.120.0)', '', '›', '  m high · ~/wt'], ready, 'empty'],
    [
      'that asks in a box',
      ['• I go.', '', '╭─ Command Approval Required ─╮', '│ [a] Accept  [d] Decline     │'],
      { kind: 'waiting', reason: 'permission' },
      'absent',
    ],
    [
      'that was asked before',
      ['╭─ Command Approval Required ─╮', '│ [a] Accept  [d] Decline     │', '', '›', '  ? for shortcuts'],
      undefined,
      'empty',
    ],
    [
      'that offers an update',
      ['✨ Update available! 1 -> 2', '', '1. Update now', '2. Skip', '', 'Press enter to continue'],
      { kind: 'waiting', reason: 'update' },
      'absent',
    ],
  ])('of another version %s is read as such', (_, lines, claim, composer) => {
    const reading = readCodexScreen({ ...snapshot, lines, title: '' })
    expect([reading.claim, reading.composer.kind]).toMatchObject([claim, composer])
  })

  it('that is empty says nothing', () => {
    expect(readCodexScreen({ ...snapshot, lines: [], title: '' })).toMatchObject({ claim: undefined, rule: 'none' })
  })

  it('of any lines is read without a fault', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('› x', '', '  1. a', '› 1. b', '  esc to cancel', '  m · /d'))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        readCodexScreen({ ...snapshot, lines, title: '' })
      }),
    )
  })
})

describe('planCodexAnswer', () => {
  const on = (name: string) => loadSnapshot('80x24', name)
  const asked = (name: string) => {
    const { claim } = readCodexScreen(on(name))
    if (claim?.kind !== 'waiting') throw new Error(`no question in ${name}`)
    return claim.question
  }

  it.each([
    ['permission', 'yes', [text('1')]],
    ['permission', 'allow', [text('1')]],
    ['permission', 'always', [text('2')]],
    ['permission', 'No', [text('3')]],
    ['permission', '3', [text('3')]],
    ['permission-tool', 'allow', [text('1')]],
    ['permission-tool', 'always', [text('3')]],
    ['permission-tool', 'reject', [text('4')]],
    ['question', 'blue', [text('2')]],
    ['trust', 'Trust and continue', [key('Enter')]],
    ['trust', '2', [key('Down'), key('Enter')]],
    ['update', 'Skip', [key('Down'), key('Enter')]],
  ])('on %s "%s" is given by keys', (name, answer, keys) => {
    expect(planCodexAnswer(asked(name), answer, on(name))).toEqual({ kind: 'keys', keys })
  })

  it('an answer of its own goes into the notes of the last option, step by step', () => {
    const give = (name: string) => planCodexAnswer(asked(name), 'a warm green', on(name))
    expect(give('question')).toEqual({ kind: 'keys', keys: [key('Down'), key('Down'), key('Tab')], isPartial: true })
    expect(give('question-notes')).toEqual({ kind: 'keys', keys: [text('a warm green')], isPartial: true })
    expect(give('question-noted')).toEqual({ kind: 'keys', keys: [key('Enter')] })
  })

  it.each([
    ['permission', 'maybe', 'is none of'],
    ['permission', '9', 'is none of'],
    ['permission', ' ', 'an empty answer'],
    ['question-noted', 'something else', 'somebody is typing'],
  ])('on %s "%s" is refused', (name, answer, why) => {
    const plan = planCodexAnswer(asked(name), answer, on(name))
    expect(plan).toEqual({ kind: 'refused', why: expect.stringContaining(why) as unknown })
  })

  it('the answer to another question, or to none, is refused', () => {
    expect(planCodexAnswer(asked('question'), 'Red', on('permission'))).toMatchObject({ kind: 'refused' })
    expect(planCodexAnswer(asked('question'), 'Red', on('fresh'))).toMatchObject({ kind: 'refused' })
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Dialog, ScreenReading } from '../provider.ts'
import { planClaudeAnswer } from './answer-keys.ts'
import { readClaudeScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '2.1.332', 'screens')
const sizes = readdirSync(folder)

function loadSnapshot(size: string, name: string): Snapshot {
  const [cols = 0, rows = 0] = size.split('x').map(Number)
  const text = readFileSync(join(folder, size, `${name}.txt`), 'utf8')
  const seen = JSON.parse(readFileSync(join(folder, size, `${name}.json`), 'utf8')) as {
    title: string
    x: number
    y: number
  }
  return {
    lines: text.split('\n').map((line) => line.trimEnd()),
    size: { cols, rows },
    title: seen.title,
    isAlternate: true,
    cursor: { x: seen.x, y: seen.y, isVisible: false },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const ready = { kind: 'ready', isStable: false } as const
const busy = { kind: 'busy', reason: 'turn' } as const
const empty = { kind: 'empty' } as const
const draft = (text: string) => ({ kind: 'draft', text }) as const
const key = (name: string) => ({ kind: 'key', name }) as const
const text = (value: string) => ({ kind: 'text', text: value }) as const
const resting = { claim: ready, rule: 'resting footer', composer: empty }
const drafting = { ...resting, rule: 'ended turn above a draft' }
const waiting = (reason: 'permission' | 'question', asked: string, options: readonly string[]) => ({
  claim: { kind: 'waiting', reason, question: { text: asked, options, vendorId: undefined } } as const,
  rule: reason === 'permission' ? 'permission prompt' : 'question',
  composer: { kind: 'absent' } as const,
})

const commandOptions = [
  'Yes',
  'Yes, and always allow access to /home/dev/proj from this project',
  'Yes, and switch to auto mode · auto mode handles these prompts for you',
  'No',
]
const longCommand =
  "touch very-long-name-of-a-file-that-makes-the-command-wrap-on-a-narrow-screen-1.txt && echo '  1. Yes' && echo ' ❯ 1. Yes'"
const colours = waiting('question', 'Which colour do you want?', ['Red', 'Blue'])

/** What each recorded screen says, at every size it was recorded at; start dialogs are below. */
const expected: Readonly<Record<string, Omit<ScreenReading, 'dialog'>>> = {
  fresh: resting,
  draft: { ...drafting, composer: draft('a draft of one line') },
  'draft-two-lines': { ...drafting, composer: draft('first line\n  second 你好 line') },
  collapsed: { ...drafting, composer: { kind: 'collapsed', chars: undefined, lines: 5 } },
  'collapsed-one-line': { ...drafting, composer: { kind: 'collapsed', chars: undefined, lines: 1 } },
  'shell-mode': { ...drafting, composer: draft('! ls') },
  'slash-menu': { ...drafting, composer: draft('/') },
  busy: { claim: busy, rule: 'interrupt footer', composer: empty },
  'busy-draft': { claim: busy, rule: 'working line', composer: draft('half a draft') },
  streaming: { claim: busy, rule: 'interrupt footer', composer: empty },
  'streaming-draft': { claim: busy, rule: 'working title', composer: draft('half a draft') },
  queued: { claim: busy, rule: 'interrupt footer', composer: empty },
  retrying: { claim: { kind: 'busy', reason: 'retrying' }, rule: 'retrying line', composer: empty },
  background: { claim: { kind: 'busy', reason: 'background' }, rule: 'background line', composer: empty },
  completed: resting,
  interrupted: resting,
  'interrupted-restored': { ...drafting, composer: draft('hang') },
  'permission-rejected': resting,
  'api-error': resting,
  imitation: resting,
  permission: waiting('permission', 'Bash command\ntouch made-by-tool\nDo you want to proceed?', commandOptions),
  'permission-long': waiting('permission', `Bash command\n${longCommand}\nDo you want to proceed?`, commandOptions),
  'permission-write': waiting('permission', 'Create file\nnew.txt\n1 hello\n2 world\nDo you want to create new.txt?', [
    'Yes',
    'Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)',
    'No',
  ]),
  question: colours,
  'question-typing': colours,
  'question-typed': colours,
  'question-multiple': waiting('question', 'Which ones?', ['[ ] A', '[ ] B']),
  'question-two': waiting('question', 'First one?', ['A', 'B']),
}
const startDialogs: readonly string[] = ['trust', 'trust-yes', 'trust-warnings', 'api-key', 'auto-mode-offer']
const wrapped = 'draft-wrapped'
const toolPrompt = 'permission-mcp'

describe.each(sizes)('recorded screens of %s', (size) => {
  it.each(Object.entries(expected))('%s', (name, reading) => {
    expect(readClaudeScreen(loadSnapshot(size, name))).toEqual({ ...reading, dialog: undefined })
  })

  it('are all looked at', () => {
    const names = readdirSync(join(folder, size)).flatMap((file) => (file.endsWith('.txt') ? [file.slice(0, -4)] : []))
    const known = [...Object.keys(expected), ...startDialogs, wrapped, toolPrompt]
    expect(names.filter((name) => !known.includes(name))).toEqual([])
  })

  it('a prompt for the tool of an MCP server names server, tool and arguments', () => {
    const { claim } = readClaudeScreen(loadSnapshot(size, toolPrompt))
    if (claim?.kind !== 'waiting') throw new Error('no question')
    const lines = ['Tool use', 'cao-mcp-server — Send Message Tool: (MCP)', 'receiver: "w"', 'message: "m"']
    expect(claim.question.text.split('\n').slice(0, 4)).toEqual(lines)
    // Whether it can be allowed for good depends on what was asked before.
    expect([claim.question.options[0], claim.question.options.at(-1)]).toEqual(['Yes', 'No'])
  })

  it('a draft that is wrapped is read without its indent', () => {
    const { composer } = readClaudeScreen(loadSnapshot(size, wrapped))
    if (composer.kind !== 'draft') throw new Error('no draft')
    expect(composer.text.replaceAll('\n', ' ')).toBe('word '.repeat(60).trim())
  })

  it.each([
    ['trust', [key('Down'), key('Enter')]],
    ['trust-yes', [key('Enter')]],
  ])('%s: the trust dialog is answered for the directory that it names', (name, answer) => {
    const { claim, dialog } = readClaudeScreen(loadSnapshot(size, name))
    expect(claim).toMatchObject({
      kind: 'waiting',
      reason: 'trust',
      question: { options: ['No, exit', 'Yes, I trust this folder'] },
    })
    expect(dialog).toMatchObject({ reason: 'trust', answer, directory: '/home/dev/proj' } satisfies Partial<Dialog>)
  })

  it('a folder that brings hooks and permissions of its own is left to the person, with the warnings', () => {
    const { claim, dialog } = readClaudeScreen(loadSnapshot(size, 'trust-warnings'))
    expect(dialog?.answer).toBe(undefined)
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect(claim.question.text).toContain('This folder configures hooks that can run commands without asking')
    expect(claim.question.options).toEqual(['No, exit', 'Yes, I trust this folder'])
  })

  it('the question about a key is left to the person', () => {
    const { claim, dialog } = readClaudeScreen(loadSnapshot(size, 'api-key'))
    expect(claim).toMatchObject({ reason: 'login', question: { options: ['Yes', 'No (recommended)'] } })
    expect(dialog).toMatchObject({ reason: 'login', answer: undefined })
  })
})

describe('start dialogs', () => {
  const snapshot = loadSnapshot('80x24', 'trust')
  const change = (from: string, to: string): Snapshot => ({
    ...snapshot,
    lines: snapshot.lines.map((line) => line.replace(from, to)),
  })

  it.each([
    ['other words', 'Quick safety check', 'Safety check'],
    ['more words', 'Security guide', 'This folder configures hooks'],
    ['other options', 'Yes, I trust this folder', 'Yes, I trust all folders'],
  ])('a trust dialog in %s is left to the person', (_, from, to) => {
    expect(readClaudeScreen(change(from, to))).toMatchObject({
      claim: { kind: 'waiting', reason: 'trust' },
      dialog: { answer: undefined },
    })
  })

  it('a directory that is wider than the screen is put together again', () => {
    const long = `/home/dev/${'long-name/'.repeat(9)}`
    const at = snapshot.lines.findIndex((line) => line.trim() === '/home/dev/proj')
    const rows = [` ${long.slice(0, 78)}`, ` ${long.slice(78)}`]
    const lines = [...snapshot.lines.slice(0, at), ...rows, ...snapshot.lines.slice(at + 1)]
    expect(readClaudeScreen({ ...snapshot, lines }).dialog?.directory).toBe(long)
  })

  it('an offer that we do not know is a question with its options', () => {
    const { claim, dialog } = readClaudeScreen(loadSnapshot('80x24', 'auto-mode-offer'))
    expect(dialog).toBe(undefined)
    expect(claim).toMatchObject({
      reason: 'question',
      question: { options: ['Yes, set auto mode as my default permission mode', 'No, keep manual mode'] },
    })
  })
})

describe('planClaudeAnswer', () => {
  const on = (name: string) => loadSnapshot('80x24', name)
  const asked = (name: string) => {
    const { claim } = readClaudeScreen(on(name))
    if (claim?.kind !== 'waiting') throw new Error(`no question in ${name}`)
    return claim.question
  }

  it.each([
    ['permission', 'Yes', [text('1')]],
    ['permission', 'yes', [text('1')]],
    ['permission', 'allow', [text('1')]],
    ['permission', 'always', [text('2')]],
    ['permission', 'reject', [text('4')]],
    ['permission', 'no', [text('4')]],
    ['permission', '4', [text('4')]],
    ['permission-write', 'No', [text('3')]],
    [toolPrompt, 'deny', [text('2')]],
    ['question', 'blue', [text('2')]],
    ['question', '1', [text('1')]],
    ['auto-mode-offer', 'No, keep manual mode', [key('Down'), key('Enter')]],
  ])('on %s, answers %s', (name, answer, keys) => {
    expect(planClaudeAnswer(asked(name), answer, on(name))).toEqual({ kind: 'keys', keys })
  })

  it.each([
    ['question', [text('3')], true],
    ['question-typing', [text('a warm green')], true],
    ['question-typed', [key('Enter')], undefined],
  ])('gives an answer in words of its own step by step: %s', (shown, keys, isPartial) => {
    const plan = planClaudeAnswer(asked('question'), 'a\u001b warm\ngreen', on(shown))
    expect(plan).toEqual({ kind: 'keys', keys, ...(isPartial === undefined ? {} : { isPartial }) })
  })

  it.each([
    ['a word that is no choice', 'permission', 'perhaps', 'permission'],
    ['another permission', 'permission-long', 'yes', 'permission'],
    ['a question when a permission is shown', 'question', 'Red', 'permission'],
    ['a question with several answers', 'question-multiple', 'A', 'question-multiple'],
    ['several questions', 'question-two', 'A', 'question-two'],
    ['an option of a question that somebody is answering', 'question', 'Red', 'question-typing'],
    ['a question that somebody has typed another answer to', 'question', 'a cold blue', 'question-typed'],
    ['a screen without a question', 'question', 'Red', 'completed'],
    ['a question that is only imitated', 'question', 'Red', 'imitation'],
    ['to leave the question for a chat', 'question', 'Chat about this', 'question'],
    ['an empty answer', 'question', ' \n', 'question'],
  ])('refuses %s', (_, name, answer, shown) => {
    expect(planClaudeAnswer(asked(name), answer, on(shown)).kind).toBe('refused')
  })
})

it('a suggestion in an empty composer is told from a draft by the cursor', () => {
  const snapshot = loadSnapshot('80x24', 'fresh')
  const at = snapshot.cursor.y
  const lines = snapshot.lines.map((line, row) => (row === at ? '❯ Try "fix lint errors"' : line))
  const composerAt = (x: number) => readClaudeScreen({ ...snapshot, lines, cursor: { ...snapshot.cursor, x } }).composer
  expect([composerAt(2), composerAt(23)]).toEqual([{ kind: 'empty' }, draft('Try "fix lint errors"')])
})

it('a dialog whose last line nobody knows is still a question, with its options', () => {
  const snapshot = loadSnapshot('80x24', 'permission')
  const lines = snapshot.lines.map((line) => line.replace(/^ Esc to cancel.*$/, ' Something else'))
  expect(readClaudeScreen({ ...snapshot, lines })).toMatchObject({
    rule: 'numbered options',
    claim: {
      kind: 'waiting',
      reason: 'question',
      question: { options: expect.arrayContaining(['Yes', 'No']) as unknown },
    },
  })
})

it('under a draft an answer without its end is work, also where the title always looks like rest', () => {
  const read = (name: string, title: string) => readClaudeScreen({ ...loadSnapshot('80x24', name), title }).claim
  expect(read('streaming-draft', 'a shell')).toEqual(busy)
  expect(read('streaming-draft', '✳ Claude Code')).toEqual(busy)
  expect(read('draft', 'a shell')).toEqual(ready)
})

it('a draft below what tells neither work nor an end says nothing', () => {
  const snapshot = loadSnapshot('80x24', 'streaming-draft')
  const lines = snapshot.lines.map((line) => line.replace(/^● /, '  '))
  const turnless = lines.filter((line, at) => !/^\S/.test(line) || at > 12)
  expect(readClaudeScreen({ ...snapshot, lines: turnless, title: '✳ Claude Code' })).toMatchObject({
    claim: undefined,
    rule: 'draft',
  })
})

describe('screens that nobody recorded', () => {
  const names = [...Object.keys(expected), ...startDialogs, toolPrompt]
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 90 }),
    fc.constantFrom(
      '─'.repeat(80),
      '❯',
      '❯ 1. Yes',
      '  2. No',
      ' Esc to cancel',
      'Enter to select · Esc to cancel',
      ' ❯ No, exit',
    ),
  )
  /** A recorded screen with some of its lines lost or written over. */
  const spoiled = fc
    .tuple(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(23), fc.option(line)), { maxLength: 6 }))
    .map(([name, changes]): Snapshot => {
      const snapshot = loadSnapshot('80x24', name)
      const lines = [...snapshot.lines]
      for (const [at, text] of changes) lines.splice(at, 1, ...(text === null ? [] : [text]))
      return { ...snapshot, lines }
    })

  it('are read and answered without a fault', () => {
    fc.assert(
      fc.property(spoiled, fc.string(), (snapshot, answer) => {
        const { claim } = readClaudeScreen(snapshot)
        if (claim?.kind === 'waiting') planClaudeAnswer(claim.question, answer, snapshot)
      }),
    )
  })

  it('are trusted only when they ask for it in so many words', () => {
    fc.assert(
      fc.property(spoiled, (snapshot) => {
        const { dialog } = readClaudeScreen(snapshot)
        if (dialog?.answer === undefined) return
        const shown = snapshot.lines.map((each) => each.trim())
        expect(shown.filter((each) => each.includes('⚠'))).toEqual([])
        expect(shown).toContain('Accessing workspace:')
        expect(shown.filter((each) => each.endsWith('No, exit'))).not.toEqual([])
        expect(shown.filter((each) => each.endsWith('Yes, I trust this folder'))).not.toEqual([])
      }),
    )
  })
})

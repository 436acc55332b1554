import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import { allowOwnTool, planKimiAnswer } from './answer-keys.ts'
import { readKimiScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '2.1.0', 'screens')
const sizes = readdirSync(folder)

function loadSnapshot(size: string, name: string): Snapshot {
  const [cols = 0, rows = 0] = size.split('x').map(Number)
  const seen = JSON.parse(readFileSync(join(folder, size, `${name}.json`), 'utf8')) as Record<'x' | 'y', number> & {
    readonly title: string
  }
  return {
    lines: readFileSync(join(folder, size, `${name}.txt`), 'utf8').split('\n'),
    size: { cols, rows },
    title: seen.title,
    isAlternate: false,
    cursor: { x: seen.x, y: seen.y, isVisible: false },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const empty = { kind: 'empty' } as const
const draft = (text: string) => ({ kind: 'draft', text }) as const
const key = (name: string) => ({ kind: 'key', name }) as const
const text = (value: string) => ({ kind: 'text', text: value }) as const
const busy = (reason: 'turn' | 'retrying' | 'background') => ({ kind: 'busy', reason }) as const
const reading = (rule: string, claim: object, composer: object = empty) => ({
  claim,
  rule,
  composer,
  dialog: undefined,
})
const resting = reading('resting', { kind: 'ready', isStable: false })
const working = reading('spinner', busy('turn'))
const waiting = (rule: string, reason: string, asked: string, options: readonly string[]) =>
  reading(
    rule,
    { kind: 'waiting', reason, question: { text: asked, options, vendorId: undefined } },
    { kind: 'absent' },
  )
const approvals = ['Approve once', 'Approve for this session', 'Reject']
const run = (file: string) =>
  waiting('permission', 'permission', `Run this command?\ncwd: /srv/proj\n$ touch /srv/proj/${file}`, approvals)
const colours = waiting('question', 'question', 'Which colour?', ['Red', 'Blue'])

const expected: Readonly<Record<string, object>> = {
  fresh: resting,
  completed: resting,
  interrupted: resting,
  'permission-rejected': resting,
  'api-error': resting,
  imitation: resting,
  todo: resting,
  draft: { ...resting, composer: draft('a draft of one line') },
  'draft-lines': { ...resting, composer: draft('first line\nsecond line') },
  'slash-menu': { ...resting, composer: draft('/mo') },
  'shell-mode': { ...resting, composer: draft('! ls') },
  collapsed: { ...resting, composer: { kind: 'collapsed', chars: undefined, lines: 31 } },
  busy: working,
  streaming: working,
  queued: working,
  'tool-running': working,
  'todo-busy': working,
  'streaming-draft': { ...working, composer: draft('a draft') },
  background: reading('background work', busy('background')),
  retrying: reading('retrying', busy('retrying')),
  'retrying-429': reading('retrying', busy('retrying')),
  permission: run('given'),
  'permission-feedback': run('refused2'),
  'permission-mcp': waiting(
    'permission',
    'permission',
    'Approve mcp__orch__send_message?\nApprove mcp__orch__send_message',
    approvals,
  ),
  'permission-write': waiting(
    'permission',
    'permission',
    'Write this file?\n/srv/proj/note.txt\n1  one\n2  two\n3',
    approvals,
  ),
  question: colours,
  'question-other': colours,
  'question-typing': colours,
  'question-typed': colours,
  'question-review': waiting('question', 'question', 'Which colour?\n→ Blue\nReady to submit?', ['Submit', 'Cancel']),
  'question-two': waiting('question', 'question', 'Which colour do you like?', ['Red', 'Blue']),
  'question-multiple': waiting('question', 'question', 'Which sizes?', ['Small', 'Large']),
}
const special: readonly string[] = [
  'trust',
  'trust-dont',
  'login',
  'not-signed-in',
  'picker',
  'draft-wrapped',
  'permission-long',
]

describe.each(sizes)('a recorded screen of %s', (size) => {
  const names = readdirSync(join(folder, size)).flatMap((name) => (name.endsWith('.txt') ? [name.slice(0, -4)] : []))

  it.each(names.filter((name) => !special.includes(name)))('%s says what it shows', (name) => {
    expect(readKimiScreen(loadSnapshot(size, name))).toEqual(expected[name])
  })

  it('trust is answered for its directory, and only as it was first drawn', () => {
    expect(readKimiScreen(loadSnapshot(size, 'trust'))).toMatchObject({
      claim: { kind: 'waiting', reason: 'trust' },
      dialog: { reason: 'trust', answer: [key('Enter')], directory: '/srv/proj' },
    })
    expect(readKimiScreen(loadSnapshot(size, 'trust-dont')).dialog?.answer).toBeUndefined()
    const shown = loadSnapshot(size, 'trust')
    const lines = shown.lines.map((line) =>
      line.replace('Trust starts the listed', 'Servers: db\n  Trust starts the listed'),
    )
    expect(readKimiScreen({ ...shown, lines: lines.join('\n').split('\n') }).dialog?.answer).toBeUndefined()
  })

  it('a long draft is whole, a long command too', () => {
    const { composer } = readKimiScreen(loadSnapshot(size, 'draft-wrapped'))
    expect(composer.kind === 'draft' ? composer.text.replaceAll('\n', ' ') : '').toBe('word '.repeat(60).trim())
    const { claim } = readKimiScreen(loadSnapshot(size, 'permission-long'))
    expect(claim).toMatchObject({
      reason: 'permission',
      question: { text: expect.stringContaining('number-29') as unknown, options: approvals },
    })
  })
})

describe('other dialogs', () => {
  it.each([
    ['login', 'login', 'Select a platform'],
    ['not-signed-in', 'login', 'Kimi Code is not signed in: use /login or /provider at the terminal.'],
    ['picker', 'question', 'Select a model  (type to search)'],
  ])('%s is a question to the person', (name, reason, asked) => {
    const { claim, dialog } = readKimiScreen(loadSnapshot('80x24', name))
    expect(claim).toMatchObject({
      kind: 'waiting',
      reason,
      question: { text: expect.stringContaining(asked) as unknown },
    })
    expect(dialog?.answer).toBeUndefined()
  })
})

describe('planKimiAnswer', () => {
  const ask = (name: string, answer: string, asked = 'Which colour?') =>
    planKimiAnswer({ text: asked, options: ['Red', 'Blue'], vendorId: undefined }, answer, loadSnapshot('80x24', name))
  const partly = (...keys: object[]) => ({ kind: 'keys', keys, isPartial: true })
  const keys = (...list: object[]) => ({ kind: 'keys', keys: list })

  it.each([
    ['Blue', [text('2')]],
    ['1', [text('1')]],
    ['a warm green', [key('Down'), key('Down'), key('Enter')]],
  ])('goes to "%s"', (answer, planned) => {
    expect(ask('question', answer)).toEqual(partly(...planned))
  })

  it('types words of its own, and saves them', () => {
    expect(ask('question-typing', 'a warm green')).toEqual(partly(text('a warm green')))
    expect(ask('question-typed', 'a warm green')).toEqual(partly(key('Enter')))
    expect(ask('question-typed', 'a cold green').kind).toBe('refused')
  })

  it('submits what it chose, and nothing that somebody else chose', () => {
    expect(ask('question-review', 'Blue')).toEqual(keys(text('1')))
    expect(ask('question-review', '2')).toEqual(keys(text('1')))
    expect(ask('question-review', 'Red').kind).toBe('refused')
    expect(ask('question-review', 'Cancel')).toEqual(keys(text('2')))
  })

  it('answers the first of two questions at once, and leaves one that takes several answers', () => {
    expect(ask('question-two', 'Red', 'Which colour do you like?')).toEqual(keys(text('1')))
    expect(ask('question-multiple', 'Small', 'Which sizes?').kind).toBe('refused')
  })

  it.each([
    ['y', [text('1')]],
    ['always', [text('2')]],
    ['no', [text('3')]],
  ])('takes "%s" for an option of a permission prompt', (answer, planned) => {
    expect(ask('permission', answer, 'Run this command?')).toEqual(keys(...planned))
  })

  it.each([
    ['question', '', 'Which colour?'],
    ['question', 'Red', 'What nobody asked?'],
    ['permission', 'Reject with feedback', 'Run this command?'],
    ['permission', 'perhaps', 'Run this command?'],
    ['completed', 'Red', 'Which colour?'],
  ])('on %s refuses "%s" for "%s"', (name, answer, asked) => {
    expect(ask(name, answer, asked).kind).toBe('refused')
  })
})

it('allows calls of CAO own tools by itself, and of no other', () => {
  const asked = (tool: string, options = approvals) =>
    allowOwnTool({ text: `Approve ${tool}?\nApprove ${tool}`, options, vendorId: undefined })
  expect(asked('mcp__cao-mcp-server__handoff')).toBe('Approve for this session')
  expect(asked('mcp__other__handoff')).toBeUndefined()
  expect(asked('mcp__cao-mcp-server__handoff', ['Yes'])).toBeUndefined()
})

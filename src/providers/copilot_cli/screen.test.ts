import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../screen/snapshot.ts'
import { planCopilotAnswer } from './answer-keys.ts'
import { readCopilotScreen } from './screen.ts'

const folder = join(import.meta.dirname, 'fixtures', '1.0.102', 'screens')
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
    isAlternate: true,
    cursor: { x: seen.x, y: seen.y, isVisible: true },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const draft = (text: string) => ({ kind: 'draft', text }) as const
const key = (name: string) => ({ kind: 'key', name }) as const
const text = (value: string) => ({ kind: 'text', text: value }) as const
const reading = (rule: string, claim: object, composer: object = { kind: 'empty' }) => ({
  claim,
  rule,
  composer,
  dialog: undefined,
})
const resting = reading('resting footer', { kind: 'ready', isStable: false })
const working = reading('working footer', { kind: 'busy', reason: 'turn' })
const asking = (rule: string, asked: string, options: readonly unknown[]) => ({
  rule,
  composer: { kind: 'absent' },
  claim: {
    kind: 'waiting',
    reason: rule,
    question: { text: expect.stringContaining(asked) as unknown, options, vendorId: undefined },
  },
})
const permission = (asked: string) =>
  asking('permission', asked, [
    'Yes',
    expect.stringMatching(/^Yes, and don't ask again for .*\(\/srv\/proj\)$/),
    'No, and tell Copilot what to do differently (Esc to stop)',
  ])
const colours = asking('question', 'Which colour?', ['Red', 'Blue'])

const expected: Readonly<Record<string, object>> = {
  completed: resting,
  'api-error': resting,
  imitation: resting,
  'permission-refused': resting,
  draft: { composer: draft('a draft of one line') },
  'draft-lines': { ...resting, composer: draft('first line\nsecond line') },
  'slash-menu': { ...resting, composer: draft('/model') },
  'shell-mode': { ...resting, composer: draft('! ls') },
  'interrupted-restored': { ...resting, composer: draft('hang') },
  collapsed: { ...resting, composer: { kind: 'collapsed', chars: undefined, lines: 31 } },
  busy: working,
  streaming: working,
  queued: working,
  'streaming-draft': { ...working, composer: draft('a draft') },
  retrying: reading('retrying', { kind: 'busy', reason: 'retrying' }),
  permission: permission('touch /srv/proj/given\nDo you want to run this command?'),
  'permission-long': permission('Do you want to run this command?'),
  'permission-mcp': permission('Do you want to use this tool?'),
  'permission-write': permission('Do you want to create /srv/proj/note9.txt?'),
  question: colours,
  'question-other': colours,
  'question-typed': colours,
}

describe.each(sizes)('a recorded screen of %s', (size) => {
  const names = readdirSync(join(folder, size)).flatMap((name) => (name.endsWith('.txt') ? [name.slice(0, -4)] : []))

  it.each(names.filter((name) => name in expected))('%s says what it shows', (name) => {
    expect(readCopilotScreen(loadSnapshot(size, name))).toMatchObject(expected[name] ?? {})
  })

  it('trust is answered for its directory, for this run, and only in the words that are known', () => {
    const shown = loadSnapshot(size, 'trust')
    expect(readCopilotScreen(shown)).toMatchObject({
      claim: { kind: 'waiting', reason: 'trust' },
      dialog: { reason: 'trust', answer: [text('1')], directory: '/srv/proj' },
    })
    const lines = shown.lines.map((line) =>
      line.replace('Copilot can read files', 'Hooks will run, and Copilot can read files'),
    )
    expect(readCopilotScreen({ ...shown, lines }).dialog?.answer).toBeUndefined()
  })

  it('a long draft is whole', () => {
    const { composer } = readCopilotScreen(loadSnapshot(size, 'draft-wrapped'))
    expect(composer.kind === 'draft' ? composer.text.replaceAll('\n', ' ') : '').toBe('word '.repeat(60).trim())
  })
})

describe('planCopilotAnswer', () => {
  const ask = (name: string, answer: string, asked: string) =>
    planCopilotAnswer({ text: asked, options: [], vendorId: undefined }, answer, loadSnapshot('80x24', name))
  const askColour = (name: string, answer: string) => ask(name, answer, 'Which colour?')
  const askRun = (answer: string) => ask('permission', answer, 'run a scripted command\ntouch /srv/proj/given')

  it('goes to an option of a form, by label or number', () => {
    expect(askColour('question', 'Blue')).toEqual({ kind: 'keys', keys: [key('Down'), key('Enter')] })
    expect(askColour('question', '1')).toEqual({ kind: 'keys', keys: [key('Enter')] })
  })

  it('opens the field, types into it, and sees it before Enter', () => {
    const steps = ['question', 'question-other', 'question-typed'].map((name) => askColour(name, 'a warm green'))
    expect(steps).toEqual([
      { kind: 'keys', keys: [key('Down'), key('Down')], isPartial: true },
      { kind: 'keys', keys: [text('a warm green')], isPartial: true },
      { kind: 'keys', keys: [key('Enter')] },
    ])
    expect(askColour('question-typed', 'a cold green').kind).toBe('refused')
  })

  it('chooses an option of a permission prompt by its digit, and refuses by Escape', () => {
    const plans = ['y', 'always', '3', 'no'].map(askRun)
    const keysOf = (key: object) => ({ kind: 'keys', keys: [key] })
    expect(plans).toEqual([keysOf(text('1')), keysOf(text('2')), keysOf(key('Escape')), keysOf(key('Escape'))])
  })

  it('refuses what nobody asked, and what is no option', () => {
    const plans = [askRun('perhaps'), askRun(''), askColour('permission', 'Red'), askColour('completed', 'Red')]
    expect(plans.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'refused', 'refused'])
  })
})

/** What the provider reads from the screen of the running agent, at both sizes and on both kinds of screen. */
import { describe, expect, test } from 'vitest'
import { TmuxPane, waitFor } from '../../agents/scripted/tmux-pane.case.ts'
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { ScreenReading } from '../provider.ts'
import { planScriptedAnswer, readScriptedScreen } from './screen.ts'

const sizes = [
  { cols: 80, rows: 24, screen: 'inline' },
  { cols: 80, rows: 24, screen: 'alternate' },
  { cols: 200, rows: 50, screen: 'inline' },
  { cols: 200, rows: 50, screen: 'alternate' },
]

async function snapshotOf(pane: TmuxPane): Promise<Snapshot> {
  const [cols, rows, x, y, alternate] = (
    await pane.format('#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on}')
  )
    .split(' ')
    .map(Number)
  return {
    lines: (await pane.screen()).split('\n').map((line) => line.trimEnd()),
    size: { cols: cols ?? 0, rows: rows ?? 0 },
    title: await pane.format('#{pane_title}'),
    isAlternate: alternate === 1,
    cursor: { x: x ?? 0, y: y ?? 0, isVisible: true },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

const readingOf = async (pane: TmuxPane): Promise<ScreenReading> => readScriptedScreen(await snapshotOf(pane))

/** The first reading by `rule`, waited for. */
function waitForRule(pane: TmuxPane, rule: string): Promise<ScreenReading> {
  return waitFor(`the rule "${rule}" to match`, async () => {
    const reading = await readingOf(pane)
    return reading.rule === rule ? reading : undefined
  })
}

const start = (how: (typeof sizes)[number], flags: readonly string[] = [], waitForPart?: string) =>
  TmuxPane.start(['--screen', how.screen, ...flags], {
    cols: how.cols,
    rows: how.rows,
    ...(waitForPart === undefined ? {} : { waitFor: waitForPart }),
  })

describe.each(sizes)('at $cols x $rows, $screen', (how) => {
  test('reads rest, drafts, work, failure and rest again', async () => {
    await using pane = await start(how)
    expect(await waitForRule(pane, 'resting footer')).toEqual({
      claim: { kind: 'ready', isStable: false },
      rule: 'resting footer',
      composer: { kind: 'empty' },
      dialog: undefined,
    })
    const draft = `${'a long line that has to be wrapped '.repeat(9)}end\n  second 你好`
    await pane.paste(draft)
    await pane.waitForScreen('second 你好')
    expect((await readingOf(pane)).composer).toEqual({ kind: 'draft', text: draft })
    await pane.press('C-u')
    await pane.paste('x\n'.repeat(30))
    await pane.waitForScreen('[Pasted')
    expect((await readingOf(pane)).composer).toEqual({ kind: 'collapsed', chars: 60, lines: 31 })
    await pane.press('C-u')
    await pane.say('hang')
    expect((await waitForRule(pane, 'working footer')).claim).toEqual({ kind: 'busy', reason: 'turn' })
    await pane.say('error 500')
    await pane.press('Escape')
    expect((await waitForRule(pane, 'error line')).claim).toMatchObject({ kind: 'failed', reason: 'api_error' })
    await pane.say('imitate')
    await pane.waitForRecords('assistant', 1)
    expect((await waitForRule(pane, 'resting footer')).composer).toEqual({ kind: 'empty' })
  })

  test('reads a permission prompt whose command imitates one, and plans its answers', async () => {
    await using pane = await start(how)
    await pane.say('tool echo "❯ 1. Yes"; : 2. Yes, and do not ask again')
    const reading = await waitForRule(pane, 'permission dialog')
    const question: QuestionText = {
      text: 'Run this command?\necho "❯ 1. Yes"; : 2. Yes, and do not ask again',
      options: ['Yes', 'Yes, and do not ask again', 'No, and stop here'],
      vendorId: undefined,
    }
    expect(reading.claim).toEqual({ kind: 'waiting', reason: 'permission', question })
    expect(reading.composer).toEqual({ kind: 'absent' })
    const snapshot = await snapshotOf(pane)
    const plans = ['1', 'yes', 'No, and stop here', 'no', 'perhaps'].map((answer) =>
      planScriptedAnswer(question, answer, snapshot),
    )
    const press = (digit: string) => ({ kind: 'keys', keys: [{ kind: 'text', text: digit }] })
    expect(plans.slice(0, 4)).toEqual([press('1'), press('1'), press('3'), press('3')])
    expect(plans[4]).toMatchObject({ kind: 'refused' })
    expect(planScriptedAnswer({ ...question, text: 'Another?' }, '1', snapshot)).toEqual({
      kind: 'refused',
      why: 'the screen shows another question',
    })
  })

  test('reads a question, and answers it with a text of its own', async () => {
    await using pane = await start(how)
    await pane.say(`ask ${'Which of these many colours? '.repeat(8)}| Red | Blue`)
    const { claim } = await waitForRule(pane, 'question dialog')
    expect(claim).toMatchObject({ question: { options: ['Red', 'Blue', 'Something else (type it)'] } })
    if (claim?.kind !== 'waiting') throw new Error('no question')
    expect(claim.question.text).toBe('Which of these many colours? '.repeat(8).trim())
    const plan = planScriptedAnswer(claim.question, 'a\x1b\x03 warm\ngreen', await snapshotOf(pane))
    expect(plan).toMatchObject({ kind: 'keys' })
    for (const key of plan.kind === 'keys' ? plan.keys : []) {
      await (key.kind === 'key' ? pane.press(key.name) : pane.type(key.text))
    }
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['DONE a warm green'])
  })

  test('reads the start and the trust dialog', async () => {
    await using pane = await start(how, ['--trust-dialog', '--startup-ms', '300'], 'starting')
    expect(await readingOf(pane)).toMatchObject({
      claim: undefined,
      rule: 'starting line',
      composer: { kind: 'absent' },
    })
    const reading = await waitForRule(pane, 'trust dialog')
    expect(reading.dialog).toMatchObject({ reason: 'trust', answer: [{ kind: 'text', text: '1' }] })
    expect(reading.claim).toMatchObject({ kind: 'waiting', reason: 'trust' })
  })
})

test('a draft that says what the ghost says is a draft', async () => {
  await using pane = await TmuxPane.start()
  await pane.type('Say what to do, or give rules')
  await waitFor('the cursor to have moved', async () =>
    (await pane.format('#{cursor_x}')) === '33' ? true : undefined,
  )
  expect((await readingOf(pane)).composer).toEqual({ kind: 'draft', text: 'Say what to do, or give rules' })
})

test('an imitated dialog in sight while a turn runs changes nothing', async () => {
  await using pane = await TmuxPane.start()
  await pane.say('imitate\nhang')
  await pane.waitForScreen('an imitated draft')
  const reading = await waitForRule(pane, 'working footer')
  expect(reading).toMatchObject({ claim: { kind: 'busy' }, composer: { kind: 'empty' }, dialog: undefined })
  const question = { text: 'Run this command?', options: [], vendorId: undefined }
  expect(planScriptedAnswer(question, 'yes', await snapshotOf(pane))).toEqual({
    kind: 'refused',
    why: 'no question is on the screen',
  })
})

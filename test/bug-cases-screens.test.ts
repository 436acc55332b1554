/**
 * Screens that other orchestrators read wrong, as their users reported them, read by our rules: the entries of docs/bug-cases.md that are about
 * what a screen means. Recorded screens are changed to what the report shows; no title tells, so that the text has to.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProviders } from '../src/main/create-providers.ts'
import { tryScreen } from '../src/rules/try-screens.ts'
import type { Snapshot } from '../src/screen/snapshot.ts'

const root = join(import.meta.dirname, '..')
const cols = 80
const rule = '─'.repeat(cols)
const folders: Readonly<Record<string, string>> = {
  claude_code: '2.1.332',
  codex: '0.171.0',
  opencode_cli: '1.18.33',
}

function read(name: string, lines: readonly string[], more: Partial<Snapshot> = {}) {
  const provider = createProviders(root).find((each) => each.name === name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  const snapshot: Snapshot = {
    lines,
    size: { cols, rows: 24 },
    title: '',
    isAlternate: true,
    cursor: { x: 2, y: lines.length - 3, isVisible: false },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
    ...more,
  }
  const { claim } = provider.readScreen(snapshot)
  return { ...tryScreen(provider, snapshot), detail: claim?.kind === 'failed' ? claim.detail : undefined }
}

function recorded(name: string, state: string): readonly string[] {
  const path = join(root, 'src', 'providers', name, 'fixtures', folders[name] ?? '', 'screens', '80x24', `${state}.txt`)
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trimEnd())
}

const claude = (said: readonly string[], composer = '❯', footer: readonly string[] = ['  ? for shortcuts']) =>
  read('claude_code', [...said, '', rule, composer, rule, ...footer], {
    cursor: { x: 2, y: said.length + 2, isVisible: false },
  })
const codex = (lines: readonly string[]) =>
  read('codex', [...lines, '', '› Ask Codex to do anything', '', '  gpt · ~/proj'])

describe('Claude Code', () => {
  const glyphs = ['·', '✢', '✳', '✶', '✻', '✽', '*']
  test.each([
    ...glyphs.map((glyph) => `${glyph} Herding…`),
    ...[...glyphs, '●'].map((glyph) => `${glyph} Herding… (12s · 3k tokens)`),
  ])('ST-01: "%s" is work, whatever the glyph', (line) => {
    expect(claude(['❯ go', '', '● hi', '', line]).status).toBe('processing')
  })

  test('ST-01: "✻ Worked for 1m 52s" is none', () => {
    expect(claude(['❯ go', '', '● hi', '', '✻ Worked for 1m 52s']).status).toBe('idle')
  })

  test('ST-03: a tool that still runs is work, though the composer is drawn and nothing else moves', () => {
    expect(claude(['❯ go', '', '● Bash(sleep 9)', '  ⎿  Running…']).status).toBe('processing')
    expect(
      claude(['❯ go', '', '● Bash(sleep 9)', '  ⎿  (No output)', '', '● done', '', '✻ Brewed for 9s']).status,
    ).toBe('idle')
  })

  test('ST-06: messages that wait in its line are work, and nothing more is typed', () => {
    const queued = ['● alpha', '', '  bravo', '', '❯ one', '', '❯ two']
    expect(claude(queued, '❯ Press up to edit queued messages').status).toBe('processing')
    expect(claude(['● Press up to edit queued messages', '', '✻ Brewed for 1s']).status).toBe('idle')
  })

  test.each([
    ['Enter to confirm · Esc to cancel', ' ❯ 1. Resume from summary (recommended)', '   2. Resume full session as-is'],
    ['↑/↓ to navigate · Enter to select', ' ❯ 1. Keep it', '   2. Take it away'],
  ])('ST-07: a choice with the footer "%s" waits for the person', (footer, first, second) => {
    const lines = ['● hi', '', rule, ' This session is 3h old and 210k tokens.', '', first, second, '', ` ${footer}`]
    expect(read('claude_code', lines)).toMatchObject({ status: 'waiting_user_answer', composer: 'absent' })
  })

  const quoted = ['  ```', '  Esc to cancel · Tab to amend', '  ❯ 1. Yes', '    2. No', '  esc to interrupt', '  ```']
  test('ST-09: an answer that quotes dialogs and spinners is an answer, and work stays work', () => {
    expect(claude(['❯ go', '', '● It shows:', ...quoted, '', '✻ Brewed for 2s']).status).toBe('idle')
    expect(claude(['❯ go', '', '● It shows:', ...quoted, '', '✽ Herding…']).status).toBe('processing')
  })

  test('ST-19: a limit that was hit is an error with its reset, not an answer', () => {
    const line = "  ⎿  You've hit your limit · resets 5pm (UTC)"
    for (const said of [
      ['❯ go', line],
      ['❯ go', '', "● You've hit your limit · resets 5pm (UTC)"],
    ]) {
      const detail = "You've hit your limit · resets 5pm (UTC)"
      expect(claude(said)).toMatchObject({ status: 'error', reason: 'rate_limited', detail })
    }
    const working = ['  ⏸ manual mode on · esc to interrupt']
    expect(claude(['❯ go', '', '● Bash(cat notes)', line], '❯', working).status).toBe('processing')
    expect(claude(['❯ why', '', "● It said: You've hit your limit", '', '✻ Brewed for 2s']).status).toBe('idle')
  })

  test('ST-20: a footer of many lines hides no work', () => {
    const footer = [
      '  ⏵⏵ accept edits on · ? for shortcuts',
      ...Array.from({ length: 7 }, (_, at) => `  status line ${at}`),
    ]
    expect(claude(['❯ go', '', '✽ Herding…'], '❯', footer).status).toBe('processing')
    expect(claude(recorded('claude_code', 'busy').slice(0, 19), '❯', footer).status).toBe('processing')
  })
})

describe('Codex', () => {
  test.each(['•', '◦'])('ST-11: the bullet %s of its working line is work', (bullet) => {
    expect(codex(['› go', '', `${bullet} Applying both edits (52s • esc to interrupt)`]).status).toBe('processing')
  })

  test('ST-14: a dialog wins over a banner, and an echo of its words is none', () => {
    const trust = recorded('codex', 'trust')
    expect(read('codex', ['> You are in /x', '', ...trust]).status).toBe('waiting_user_answer')
    const echo = [
      '› Say: Do you trust the contents of this directory?',
      '',
      '• Do you trust the contents of this directory?',
    ]
    expect(codex([...echo, '', '  Worked for 1s • 12:00']).status).toBe('idle')
  })
})

describe('opencode', () => {
  test('ST-15: a permission, then work, then rest, each as it is, also with the hint of work left over', () => {
    const states = ['permission', 'question', 'busy', 'completed'].map((name) =>
      read('opencode_cli', recorded('opencode_cli', name)),
    )
    expect(states.map(({ status }) => status)).toEqual([
      'waiting_user_answer',
      'waiting_user_answer',
      'processing',
      'idle',
    ])
    const leftOver = [...recorded('opencode_cli', 'permission').slice(0, -1), '   ■■■⬝⬝⬝⬝⬝  esc interrupt']
    expect(read('opencode_cli', leftOver).status).toBe('waiting_user_answer')
  })
})

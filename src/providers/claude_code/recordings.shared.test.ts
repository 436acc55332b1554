/**
 * The provider on recordings that others made of the same version, with TMUX in its environment. There the title never
 * changes, so it is left out: what is on the screen has to be enough, or nothing is said.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Claim } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import { type HookFact, hookNames, readHook } from './hook-events.ts'
import { readClaudeScreen } from './screen.ts'

const fixtures = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'fixtures')
const screens = join(fixtures, 'screens', 'claude', '2.1.332')
const read = (...path: readonly string[]) => readFileSync(join(...path), 'utf8')

type State = { readonly state: string; readonly cursor_x: string; readonly cursor_y: string }
const { allowed } = JSON.parse(read(fixtures, 'expected-status.json')) as {
  readonly allowed: Readonly<Record<string, readonly string[]>>
}

/** Recorded before the program gave up: it says so itself (`attempt 6/10`). */
const isRetrying = (name: string) => name === 'error-429'

const statusesOf: Readonly<Partial<Record<Claim['kind'], readonly string[]>>> = {
  ready: ['idle', 'completed'],
  busy: ['processing'],
  waiting: ['waiting_user_answer'],
}

describe.each([
  { cols: 80, rows: 24, suffix: '-80x24' },
  { cols: 200, rows: 50, suffix: '' },
])('screens of $cols x $rows', ({ cols, rows, suffix }) => {
  const { states } = JSON.parse(read(screens, `states${suffix}.json`)) as { readonly states: readonly State[] }
  const files = new Set(readdirSync(screens))
  const recorded = states.filter(({ state }) => files.has(`${state}${suffix}.txt`))

  function load({ state, cursor_x, cursor_y }: State): Snapshot {
    return {
      lines: read(screens, `${state}${suffix}.txt`)
        .split('\n')
        .map((line) => line.trimEnd()),
      size: { cols, rows },
      title: '',
      isAlternate: true,
      cursor: { x: Number(cursor_x), y: Number(cursor_y), isVisible: false },
      mode: undefined,
      isInputOff: false,
      atMs: 0,
    }
  }

  it.each(recorded.filter(({ state }) => state in allowed).map((state) => [state.state, state] as const))(
    '%s',
    (name, state) => {
      const { claim, rule } = readClaudeScreen(load(state))
      // A draft hides what tells of work: then nothing may be said.
      if (claim === undefined) return expect(rule).toBe('draft')
      const right = isRetrying(name) ? ['processing'] : allowed[name]
      expect(statusesOf[claim.kind]?.some((status) => right?.includes(status) === true)).toBe(true)
    },
  )

  it('asks what it asks at the start', () => {
    const start = (name: string) => {
      const state = recorded.find((each) => each.state === name)
      return state === undefined ? undefined : readClaudeScreen(load(state)).dialog
    }
    expect(start('startup-1-trust')).toMatchObject({ reason: 'trust', directory: '/home/dev/proj/claude' })
    expect(start('startup-2-api-key')).toMatchObject({ reason: 'login', answer: undefined })
  })
})

describe('hooks', () => {
  const events = read(fixtures, 'hooks', 'claude.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly label: string; readonly stdin: Readonly<Record<string, unknown>> })
  const ours = events.filter(({ label }) => hookNames.some((name) => name === label))

  it('of the kinds that CAO asks for are all read', () => {
    expect(ours.length).toBeGreaterThan(20)
    expect(ours.filter(({ label, stdin }) => readHook(label, stdin) === undefined)).toEqual([])
  })

  it('give the answer word for word', () => {
    const stops = ours.filter(({ label }) => label === 'Stop')
    const facts = stops.map(({ stdin }) => readHook('Stop', stdin) as Extract<HookFact, { kind: 'stopped' }>)
    expect(facts.map(({ answer }) => answer)).toEqual(stops.map(({ stdin }) => stdin['last_assistant_message']))
  })
})

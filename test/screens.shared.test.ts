/**
 * Every recorded screen of every CLI that has a provider, at both sizes, against what the CLI was doing. The recordings stand beside
 * the checkout. Judged twice: with all that a recording holds (screen, title, alternate screen, cursor), where everything must be right
 * but for the exceptions below; and by the text of the screen alone, where nothing may be said that misleads.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createProviders } from '../src/main/create-providers.ts'
import type { Provider } from '../src/providers/provider.ts'
import { type CaptureFacts, noFacts, toSnapshot } from '../src/rules/capture-file.ts'
import { type Tried, tryScreen } from '../src/rules/try-screens.ts'

const root = join(import.meta.dirname, '..')
const fixtures = join(root, '..', 'shared', 'fixtures')
const readJson = (...path: readonly string[]) => JSON.parse(readFileSync(join(...path), 'utf8')) as unknown

/** Which recordings are whose; a provider that is not here has none. */
const foldersOf: Readonly<Record<string, string>> = {
  claude_code: 'claude',
  codex: 'codex',
  opencode_cli: 'opencode',
  gemini_cli: 'gemini',
  qwen_cli: 'qwen',
  copilot_cli: 'copilot',
  kimi_cli: 'kimi',
}

/** What a recording shows against the name that it was given, and why that is right. By provider and state. */
const exceptions: Readonly<
  Record<string, Readonly<Record<string, { readonly status: string; readonly why: string }>>>
> = {
  codex: {
    'busy-queued': {
      status: 'idle',
      why: 'a prompt that comes into a turn is answered at once: the answer and "Worked for 3s" stand there, the title rests',
    },
    'error-429-early': {
      status: 'idle',
      why: 'it does not try again after a 429: "exceeded retry limit" stands there, the title rests',
    },
  },
  claude_code: {
    'error-429': {
      status: 'processing',
      why: 'recorded while it still tried: the screen says "retrying in 17s · attempt 6/10"',
    },
  },
}

const { allowed, not_judged: notJudged } = readJson(fixtures, 'expected-status.json') as {
  readonly allowed: Readonly<Record<string, readonly string[]>>
  readonly not_judged: Readonly<Record<string, readonly string[]>>
}

type State = Readonly<Record<'state' | 'pane_title' | 'alternate_on' | 'cursor_x' | 'cursor_y' | 'cursor_flag', string>>
type Frame = {
  readonly name: string
  readonly path: string
  readonly facts: CaptureFacts
  readonly allowed: readonly string[]
}

const sizes = [
  { cols: 80, rows: 24, suffix: '-80x24' },
  { cols: 200, rows: 50, suffix: '' },
]

function listFrames(provider: Provider): readonly Frame[] {
  const folder = foldersOf[provider.name] ?? ''
  const versions = readdirSync(join(fixtures, 'screens', folder))
  return versions.flatMap((version) => sizes.flatMap((size) => listVersion(provider.name, join(folder, version), size)))
}

function listVersion(
  provider: string,
  folder: string,
  { cols, rows, suffix }: (typeof sizes)[number],
): readonly Frame[] {
  const dir = join(fixtures, 'screens', folder)
  const files = new Set(readdirSync(dir))
  const { states } = readJson(dir, `states${suffix}.json`) as { readonly states: readonly State[] }
  const left = notJudged[folder.split('/')[0] ?? ''] ?? []
  return states.flatMap((state) => {
    const right = exceptions[provider]?.[state.state]?.status
    const judged = right === undefined ? allowed[state.state] : [right]
    const file = `${state.state}${suffix}.ansi`
    if (judged === undefined || left.includes(state.state) || !files.has(file)) return []
    const cursor = { x: Number(state.cursor_x), y: Number(state.cursor_y), isVisible: state.cursor_flag === '1' }
    const facts = { title: state.pane_title, isAlternate: state.alternate_on === '1', cols, rows, cursor }
    return [{ name: `${folder} ${state.state} ${cols}x${rows}`, path: join(dir, file), facts, allowed: judged }]
  })
}

const judge = (frame: Frame, { status }: Pick<Tried, 'status'>): 'right' | 'wrong' | 'unknown' =>
  frame.allowed.includes(status) ? 'right' : status === 'unknown' ? 'unknown' : 'wrong'

/** Rest that is none would let a message be typed into work; anything else about what waits would leave a person out. */
function isMisleading(frame: Frame, { status }: Pick<Tried, 'status'>): boolean {
  if (judge(frame, { status }) !== 'wrong') return false
  if (frame.allowed.includes('waiting_user_answer')) return true
  return frame.allowed.includes('processing') && status !== 'waiting_user_answer'
}

const table: string[] = []
afterAll(() => void process.stdout.write(`by the text of the screen alone:\n${table.join('\n')}\n`))

describe.each(createProviders(root).filter(({ name }) => name in foldersOf))('$name', (provider) => {
  const frames = listFrames(provider)
  const tell = (frame: Frame, tried: Tried) => `${frame.name}: ${tried.status} (${tried.reason}) by ${tried.rule}`

  test('has recordings of both sizes', () => {
    expect(frames.filter(({ facts }) => facts.cols === 80).length).toBeGreaterThan(15)
    expect(frames.filter(({ facts }) => facts.cols === 200).length).toBeGreaterThan(15)
  })

  test('is read right by all that a recording holds', () => {
    const wrong = frames.flatMap((frame) => {
      const tried = tryScreen(provider, toSnapshot(readFileSync(frame.path, 'utf8'), frame.facts))
      return judge(frame, tried) === 'right' ? [] : [tell(frame, tried)]
    })
    expect(wrong).toEqual([])
  })

  test('is not misread by the text of its screen alone', () => {
    const count = { right: 0, wrong: 0, unknown: 0 }
    const misleading: string[] = []
    for (const frame of frames) {
      for (const ending of ['.ansi', '.txt']) {
        const text = readFileSync(frame.path.replace(/\.ansi$/, ending), 'utf8')
        const tried = tryScreen(provider, toSnapshot(text, { ...noFacts, isAlternate: frame.facts.isAlternate }))
        count[judge(frame, tried)]++
        if (isMisleading(frame, tried)) misleading.push(`${ending} ${tell(frame, tried)}`)
      }
    }
    table.push(`  ${provider.name.padEnd(14)} right ${count.right}, wrong ${count.wrong}, unknown ${count.unknown}`)
    expect(misleading).toEqual([])
  })

  test('a start dialog is never taken for rest', () => {
    const folder = join(fixtures, 'screens', foldersOf[provider.name] ?? '')
    const starts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\/startup-[^/]*\.ansi$/.test(path),
    )
    const seen = starts.map((path) => {
      const snapshot = toSnapshot(readFileSync(join(folder, path), 'utf8'), noFacts)
      return `${path}: ${tryScreen(provider, snapshot).status}`
    })
    expect(seen.filter((line) => /: (?:idle|completed)$/.test(line))).toEqual([])
  })
})

/** What the screen of opencode says, and what its composer holds. Pure. Source: fixtures/opencode_cli/1.18.33. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Composer } from '../provider.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { type Prompt, readPromptAbove } from './prompt.ts'
import { type Block, cutRegions } from './regions.ts'
import { opencodeRules } from './rules.ts'

const collapsedPattern = /^\[Pasted ~(\d+) lines?\]$/
const placeholderPattern = /^Ask anything… "/
/** In the place of agent and model: what is typed would be run by a shell. */
const shellRowPattern = /^\s*Shell\s*$/

export const opencodeScreen = createScreenReader({
  regions: ['footer', 'home', 'ending', 'cover'],
  rules: opencodeRules,
  cut: (snapshot) => {
    const { block, endings, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: block === undefined ? { kind: 'absent' } : readComposer(block),
      ask: (match) => ask(snapshot.lines, endings, match),
    }
  },
})

export const readOpencodeScreen = opencodeScreen.read

function kindOf({ rule }: RuleMatch): Prompt['kind'] {
  if (rule.name === 'always-prompt') return 'always'
  if (rule.name === 'tabs-prompt') return 'tabs'
  return rule.says === 'permission' ? 'permission' : 'question'
}

function ask(lines: readonly string[], endings: readonly number[], match: RuleMatch): Asked | undefined {
  const { all = [] } = match.rule
  const end = endings.findLast((at) => all.every((pattern) => pattern.test(lines[at] ?? '')))
  if (end === undefined) return undefined
  const { text, options } = readPromptAbove(lines, end, kindOf(match))
  return { question: { text, options, vendorId: undefined } }
}

/** The last row names agent and model; a blank row stands above it, one more at the top, or below the menu of commands. */
function readComposer(block: Block): Composer {
  const menuEnd = block.rows.findLastIndex((row) => row.endsWith('┃'))
  const rows = block.rows.slice(menuEnd + 2, -1)
  if (rows.at(-1) === '') rows.pop()
  const lines = rows.map((row) => row.replace(/^ {1,2}/, ''))
  const text = lines.join('\n').trim()
  if (shellRowPattern.test(block.rows.at(-1) ?? '')) return { kind: 'draft', text: `! ${text}` }
  if (text === '' || placeholderPattern.test(text)) return { kind: 'empty' }
  const [, count] = collapsedPattern.exec(text) ?? []
  if (count !== undefined) return { kind: 'collapsed', chars: undefined, lines: Number(count) }
  return { kind: 'draft', text: lines.join('\n') }
}

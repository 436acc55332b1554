/** Reads one screen of Claude Code. Pure. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { askedOptions, type Prompt, readList, readNumbered } from './prompt.ts'
import { type ClaudeScreen, cutRegions } from './regions.ts'
import { claudeRules } from './rules.ts'
import { readStartDialog } from './start-dialogs.ts'

export const claudeScreen = createScreenReader({
  regions: ['ending', 'list', 'footer', 'activity', 'turn'],
  rules: claudeRules,
  cut: (snapshot) => {
    const screen = cutRegions(snapshot)
    return {
      regions: screen.regions,
      composer: readComposer(screen.composer, snapshot),
      ask: (match) => ask(readPrompt(screen, snapshot, match)),
      // The turn is all that was said; the sentence says until when.
      describeError: ({ text }) => /You['’]ve hit your [^\n]*/.exec(text)?.[0].trimEnd() ?? text,
    }
  },
})

export const readClaudeScreen = claudeScreen.read

/** The dialog on the screen; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): Prompt | undefined {
  const { reading, match } = claudeScreen.explain(snapshot)
  if (match === undefined || reading.claim?.kind !== 'waiting') return undefined
  return readPrompt(cutRegions(snapshot), snapshot, match)
}

function readPrompt({ lines, regions }: ClaudeScreen, { size }: Snapshot, { rule }: RuleMatch): Prompt {
  if (rule.region === 'list') return readList(regions.list ?? '')
  return readNumbered(lines, size.cols, rule.says === 'permission' ? 'permission' : 'question')
}

function ask(prompt: Prompt): Asked {
  return {
    question: { text: prompt.text, options: askedOptions(prompt), vendorId: undefined },
    dialog: prompt.kind === 'list' ? readStartDialog(prompt) : undefined,
  }
}

/** Reads one screen of Claude Code. Pure. */
import type { Claim, QuestionText, WaitingReason } from '../../domain/status.ts'
import { matchRules } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { ScreenReading } from '../provider.ts'
import { readComposer } from './composer.ts'
import { askedOptions, type Prompt, readList, readNumbered } from './prompt.ts'
import { type ClaudeScreen, cutRegions } from './regions.ts'
import { type ClaudeSays, claudeRules } from './rules.ts'
import { readStartDialog } from './start-dialogs.ts'

/** What tells rest: the title of a program that has had a turn, or an empty composer. */
const restingTitle = /^✳ /

export function readClaudeScreen(snapshot: Snapshot): ScreenReading {
  const screen = cutRegions(snapshot)
  const composer = readComposer(screen.composer, snapshot)
  const match = matchRules(claudeRules, screen.regions)
  if (match === undefined) return { claim: undefined, rule: 'none', composer, dialog: undefined }
  const { says, name: rule } = match.rule
  if (says === 'permission' || says === 'question' || says === 'list') {
    return { ...readWait(readPrompt(screen, snapshot, says)), rule, composer }
  }
  // A draft hides most of what tells of work.
  if (says === 'ready' && composer.kind !== 'empty' && !restingTitle.test(snapshot.title)) {
    return { claim: undefined, rule: 'draft', composer, dialog: undefined }
  }
  return { claim: claimOf(says), rule, composer, dialog: undefined }
}

/** The dialog on the screen; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): Prompt | undefined {
  const screen = cutRegions(snapshot)
  const says = matchRules(claudeRules, screen.regions)?.rule.says
  return says === 'permission' || says === 'question' || says === 'list'
    ? readPrompt(screen, snapshot, says)
    : undefined
}

function readPrompt(screen: ClaudeScreen, { size }: Snapshot, says: 'permission' | 'question' | 'list'): Prompt {
  if (says === 'list') return readList(screen.regions.list ?? '')
  return readNumbered(screen.lines, size.cols, says)
}

function readWait(prompt: Prompt): Pick<ScreenReading, 'claim' | 'dialog'> {
  const dialog = prompt.kind === 'list' ? readStartDialog(prompt) : undefined
  const reason: WaitingReason = dialog?.reason ?? (prompt.kind === 'permission' ? 'permission' : 'question')
  const question: QuestionText = { text: prompt.text, options: askedOptions(prompt), vendorId: undefined }
  return { claim: { kind: 'waiting', reason, question }, dialog }
}

function claimOf(says: Exclude<ClaudeSays, 'permission' | 'question' | 'list'>): Claim {
  switch (says) {
    case 'retrying':
      return { kind: 'busy', reason: 'retrying' }
    case 'background':
      return { kind: 'busy', reason: 'background' }
    case 'busy':
      return { kind: 'busy', reason: 'turn' }
    case 'ready':
      return { kind: 'ready', isStable: false }
  }
}

/**
 * How a screen is read, the same for every CLI: the provider cuts the screen into regions and finds its composer, the rules
 * say which claim follows, and where they say that something is asked, the provider reads the question off the screen.
 * So a rule is data and can be replaced by a person (`rule-file.ts`), and what has to be code stays code. Pure.
 *
 * Beside the provider's own regions there are always: `title`; `alternate` (on, off); `composer` (absent, empty, collapsed, or
 * `draft` and its text in the lines after); `bottom`, the last lines that hold anything.
 */
import type { Claim, QuestionText, WaitingReason } from '../domain/status.ts'
import { matchRules, type RuleMatch, replaceRules, type ScreenRule, type ScreenWord } from '../screen/rules.ts'
import { bottomLines, type Snapshot } from '../screen/snapshot.ts'
import type { Composer, Dialog, ScreenReader, ScreenReading } from './provider.ts'

export const sharedRegions = ['title', 'alternate', 'composer', 'bottom'] as const
export type SharedRegion = (typeof sharedRegions)[number]
/** Enough for any dialog that was seen, in a pane of 24 rows. */
const bottomLinesMax = 20

/** What a question rule's screen asks. `dialog` where it belongs to the start. */
export type Asked = { readonly question: QuestionText; readonly dialog?: Dialog | undefined }

export type ScreenCut<Region extends string> = {
  readonly regions: Readonly<Record<Region, string | undefined>>
  readonly composer: Composer
  /** What is asked, after a rule that says so. undefined: it can not be read, and the region's text is shown as it is. */
  readonly ask?: (match: RuleMatch) => Asked | undefined
  /** The sentence of an error rule; undefined: the first line of its region. */
  readonly describeError?: (match: RuleMatch) => string | undefined
}

export type ScreenPlan<Region extends string> = {
  /** The provider's own. A region of a shared name takes its place. */
  readonly regions: readonly Region[]
  readonly rules: readonly ScreenRule<Region | SharedRegion>[]
  readonly cut: (snapshot: Snapshot) => ScreenCut<Region>
}

/**
 * Where no rule of the provider holds and nothing can be typed, something that is chosen from or waits for a key is a question to the
 * person, whatever its words: a new dialog must never look like a program that is only slow.
 */
const unknownDialogs: readonly ScreenRule<SharedRegion>[] = [
  {
    name: 'unknown choice',
    priority: Number.MIN_SAFE_INTEGER,
    region: 'bottom',
    all: [/(?:^|\n)[ │┃|]*[❯›>▶●→*] *\(?1[.)] \S/, /\n[ │┃|]*[❯›>▶●○→*]? *\(?2[.)] \S/],
    also: [{ region: 'composer', all: [/^absent$/] }],
    says: 'question',
  },
  // A marked row, and one below it that begins where its text does. In the first column it is a prompt of the conversation.
  {
    name: 'unknown list',
    priority: Number.MIN_SAFE_INTEGER,
    region: 'bottom',
    all: [/(?:^|\n)( +)[❯›▶] \S[^\n]*\n\1 {2,6}\S/],
    also: [{ region: 'composer', all: [/^absent$/] }],
    says: 'question',
  },
  {
    name: 'unknown prompt',
    priority: Number.MIN_SAFE_INTEGER,
    region: 'bottom',
    any: [/[[(]y(?:es)?\/n(?:o)?[\])][^\n]{0,10}$/i, /\bpress (?:enter|return|any key)\b[^\n]{0,40}$/i],
    also: [{ region: 'composer', all: [/^absent$/] }],
    says: 'question',
  },
]

export function createScreenReader<Region extends string>(plan: ScreenPlan<Region>): ScreenReader {
  return makeReader(plan, [...plan.rules, ...unknownDialogs])
}

function makeReader<Region extends string>(plan: ScreenPlan<Region>, rules: readonly ScreenRule[]): ScreenReader {
  const look = (snapshot: Snapshot) => {
    const cut = plan.cut(snapshot)
    const regions: Readonly<Record<string, string | undefined>> = {
      ...cutShared(snapshot, cut.composer),
      ...cut.regions,
    }
    return { cut, regions, match: matchRules(rules, regions) }
  }
  return {
    regions: [...new Set<string>([...plan.regions, ...sharedRegions])],
    rules,
    read: (snapshot) => {
      const { cut, match } = look(snapshot)
      return readMatch(cut, match)
    },
    explain: (snapshot) => {
      const { cut, match, regions } = look(snapshot)
      return { reading: readMatch(cut, match), match, regions }
    },
    withRules: (changes) => makeReader(plan, replaceRules(rules, changes)),
  }
}

function cutShared(snapshot: Snapshot, composer: Composer): Record<SharedRegion, string> {
  return {
    title: snapshot.title,
    alternate: snapshot.isAlternate ? 'on' : 'off',
    composer: composer.kind === 'draft' ? `draft\n${composer.text}` : composer.kind,
    bottom: bottomLines(snapshot, bottomLinesMax).join('\n'),
  }
}

function readMatch({ composer, ask, describeError }: ScreenCut<string>, match: RuleMatch | undefined): ScreenReading {
  if (match === undefined) return { claim: undefined, rule: 'none', composer, dialog: undefined }
  const { name: rule, says } = match.rule
  if (isWaiting(says)) {
    const { question, dialog } = ask?.(match) ?? {
      question: { text: tidy(match.text), options: [], vendorId: undefined },
    }
    const reading = { claim: { kind: 'waiting', reason: says, question }, rule, composer, dialog } as const
    return unknownDialogs.some((each) => each === match.rule) ? { ...reading, isGuess: true } : reading
  }
  const claim = claimOf(says, () => describeError?.(match) ?? tidy(match.text).split('\n', 1)[0] ?? '')
  return { claim, rule, composer, dialog: undefined }
}

const waitingWords: ReadonlySet<ScreenWord> = new Set(['permission', 'question', 'trust', 'login', 'update'])
const isWaiting = (says: ScreenWord): says is WaitingReason => waitingWords.has(says)

function claimOf(says: Exclude<ScreenWord, WaitingReason>, describe: () => string): Claim | undefined {
  switch (says) {
    case 'ready':
      return { kind: 'ready', isStable: false }
    case 'busy':
      return { kind: 'busy', reason: 'turn' }
    case 'background':
    case 'retrying':
      return { kind: 'busy', reason: says }
    case 'rate_limited':
    case 'api_error':
      return { kind: 'failed', reason: says, detail: describe() }
    case 'fresh':
    case 'nothing':
      return undefined
  }
}

const tidy = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')

/** What the screen of Claude Code can say, as data. Versions seen: 2.1.332; the title tells only without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { ClaudeRegion } from './regions.ts'

const spinner = String.raw`^[·✢✳✶✻✽*∗] `
const filled = { region: 'composer', not: [/^(?:empty|absent)$/] } as const
/** What a turn leaves behind it: how long it took, an error, a word on who broke it off. */
const endings = [
  new RegExp(String.raw`${spinner}\S+ for (?:\d+[hms] ?)+`),
  /^● API Error\b/,
  // At the end, but for a hint of one line.
  /\n +⎿ {1,2}Interrupted\b[^\n]*\n*(?: +[^\n]*\n*)?$/,
  // Nothing but the program's own head.
  /^[ ▗▝▘▐▛▜▟▂▙█]*█[ ▗▝▘▐▛▜▟▂▙█▀▄]* {2}/,
]

export const claudeRules: readonly ScreenRule<ClaudeRegion | SharedRegion>[] = [
  { name: 'permission prompt', priority: 90, region: 'ending', all: [/^ Esc to cancel\b/], says: 'permission' },
  {
    name: 'question',
    priority: 90,
    region: 'ending',
    all: [/^Enter to select · .*Esc to cancel$/],
    says: 'question',
  },
  { name: 'trust dialog', priority: 85, region: 'list', all: [/^\s*Accessing workspace:/], says: 'trust' },
  {
    name: 'API key dialog',
    priority: 85,
    region: 'list',
    all: [/^\s*Detected a custom API key in your environment/],
    says: 'login',
  },
  // Whatever its words are: something that is chosen from stands where the composer would be.
  {
    name: 'numbered options',
    priority: 82,
    region: 'bottom',
    all: [/(?:^|\n) *❯ \d\. [^\n]+(?:\n[^\n]*){0,9}$/, /(?:^|\n) *(?:❯ )?1\. /, /\n *(?:❯ )?2\. /],
    also: [{ region: 'composer', all: [/^absent$/] }],
    says: 'question',
  },
  { name: 'list', priority: 80, region: 'list', all: [/./], says: 'question' },
  {
    name: 'retrying line',
    priority: 70,
    region: 'activity',
    all: [new RegExp(String.raw`${spinner}.* · retrying in \d+s · attempt \d+/\d+$`)],
    says: 'retrying',
  },
  { name: 'interrupt footer', priority: 60, region: 'footer', all: [/\besc to interrupt\b/], says: 'busy' },
  // In the composer itself, between its two rules.
  {
    name: 'queued messages',
    priority: 58,
    region: 'bottom',
    all: [/\n─{20,}\n❯\sPress up to edit queued messages\n─{20,}(?:\n|$)/],
    says: 'busy',
  },
  {
    name: 'background line',
    priority: 55,
    region: 'activity',
    all: [new RegExp(String.raw`${spinner}Waiting for \d+ .* to finish`)],
    says: 'background',
  },
  {
    name: 'working line',
    priority: 50,
    region: 'activity',
    // A bullet, which stands before answers too, is a spinner only where it counts.
    any: [new RegExp(String.raw`${spinner}\S+…`), /^● \S+… \(\d+[hms]\b/],
    says: 'busy',
  },
  // The composer is drawn all the while.
  {
    name: 'running tool',
    priority: 48,
    region: 'turn',
    all: [/^● \S[^\n]*\((?:.|\n)*\n +⎿ {1,2}Running…[^\n]*\n*$/],
    says: 'busy',
  },
  // The footer's hint goes while the composer holds text, the working line while the answer comes in.
  { name: 'working title', priority: 45, region: 'title', all: [/^[◐◓◑◒\u2801-\u28ff] /], says: 'busy' },
  // A draft hides the hint of the footer: what stands above it tells whether the turn has ended.
  { name: 'ended turn above a draft', priority: 40, region: 'turn', any: endings, also: [filled], says: 'ready' },
  {
    name: 'open turn above a draft',
    priority: 38,
    region: 'turn',
    all: [/^(?:●|❯ (?!\/))/],
    not: endings,
    also: [filled],
    says: 'busy',
  },
  { name: 'draft', priority: 35, region: 'composer', not: [/^(?:empty|absent)$/], says: 'nothing' },
  // Also where a version tells of it by no hook: what stands last in the turn, and not in an answer that has ended.
  {
    name: 'usage limit',
    priority: 33,
    region: 'turn',
    any: [/^● You['’]ve hit your [^\n]*\blimit\b[^\n]*\n*$/, /\n +⎿ {1,2}You['’]ve hit your [^\n]*\blimit\b[^\n]*\n*$/],
    says: 'rate_limited',
  },
  { name: 'resting footer', priority: 30, region: 'footer', says: 'ready' },
]

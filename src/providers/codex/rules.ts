/** What the screen of Codex can say, as data. Versions seen: 0.171.0, with and without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { CodexRegion } from './regions.ts'

type Rule = ScreenRule<CodexRegion | SharedRegion>

const versions = '0.171.0'
const spinner = /^[\u2801-\u28ff] /
/** A person may have animations off: then only the word is there. */
const workingTitle = /^(?:[\u2801-\u28ff] )?(?:Working|Thinking|Waiting) \| /
const startingTitle = /^(?:[\u2801-\u28ff] )?Starting \| /
const waitingTitle = /^\[ [!.] \] Action Required\b/
/** Where CAO started the program, its state stands in the title, and at the end the conversation. */
const restingTitle = /^Ready \| .*[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f.-]+$/
const atWork = /\besc to interrupt\)/

export const codexRules: readonly Rule[] = [
  {
    name: 'command-approval',
    priority: 95,
    region: 'ending',
    all: [/^ {2}Press enter to confirm or esc to cancel$/m],
    says: 'permission',
    versions,
  },
  {
    name: 'tool-approval',
    priority: 95,
    region: 'dialog',
    all: [/^ {2}Allow .* to run tool "/m],
    also: [{ region: 'ending', all: [/\benter to submit \| esc to cancel\b/] }],
    says: 'permission',
    versions,
  },
  {
    name: 'notes-field',
    priority: 95,
    region: 'ending',
    all: [/\besc to clear notes \| enter to submit (?:answer|all)\b/],
    says: 'question',
    versions,
  },
  {
    name: 'question',
    priority: 94,
    region: 'ending',
    all: [/\benter to submit\b.*\| esc to (?:interrupt|cancel)\b|\benter to submit (?:answer|all)\b/],
    says: 'question',
    versions,
  },
  {
    name: 'folder-trust',
    priority: 96,
    region: 'dialog',
    any: [/^ {2}Trust this folder\?/m, /^ *Do you trust the (?:contents|files)\b/m],
    says: 'trust',
    versions,
  },
  { name: 'hooks-review', priority: 96, region: 'dialog', all: [/^ {2}Hooks need review$/m], says: 'trust', versions },
  {
    name: 'sign-in',
    priority: 96,
    region: 'dialog',
    any: [/^[› >]*1\. Sign in with ChatGPT$/m, /^ *Sign in with ChatGPT\b/m],
    says: 'login',
    versions,
  },
  { name: 'update-offer', priority: 96, region: 'dialog', all: [/^\W*Update available\b/m], says: 'update', versions },
  // Of versions before 0.140: without numbers, so it is answered at the terminal.
  {
    name: 'boxed-approval',
    priority: 95,
    region: 'bottom',
    all: [/^\W*Command Approval Required\b/m, /^\W*\[a\] Accept\b.*\[d\] Decline\W*$/m],
    also: [{ region: 'composer', all: [/^absent/] }],
    says: 'permission',
  },
  // What is not known is a question to the person, never a key.
  {
    name: 'unknown-dialog',
    priority: 60,
    region: 'dialog',
    all: [/^ *[›>] ?\d+\. \S/m],
    says: 'question',
  },
  {
    name: 'waiting-title',
    priority: 55,
    region: 'title',
    all: [waitingTitle],
    also: [{ region: 'composer', all: [/^absent/] }],
    says: 'question',
    versions,
  },
  {
    name: 'reconnecting',
    priority: 50,
    region: 'activity',
    all: [/^[•◦] Reconnecting\.\.\. \d+\/\d+/, atWork],
    says: 'retrying',
    versions,
  },
  // It connects to its servers: no turn, and no rest yet.
  { name: 'starting-title', priority: 48, region: 'title', all: [startingTitle], says: 'nothing', versions },
  {
    name: 'starting-line',
    priority: 48,
    region: 'activity',
    all: [/^[•◦] (?:Starting|Booting) MCP servers?\b/],
    also: [{ region: 'title', not: [workingTitle] }],
    says: 'nothing',
    versions,
  },
  {
    name: 'working-title',
    priority: 45,
    region: 'title',
    any: [spinner, workingTitle],
    says: 'busy',
    versions,
  },
  // The agent may say the same words: the title knows better, where it is kept up.
  {
    name: 'working-line',
    priority: 40,
    region: 'activity',
    all: [/^[•◦] .*\((?:\d+[hms] ?)+ • esc to interrupt\)/],
    also: [{ region: 'title', not: [restingTitle] }],
    says: 'busy',
    versions,
  },
  // Covers the screen without asking.
  { name: 'warnings', priority: 35, region: 'ending', all: [/\besc dismiss\b/], says: 'nothing', versions },
  {
    name: 'resting-title',
    priority: 30,
    region: 'title',
    all: [restingTitle],
    also: [{ region: 'composer', not: [/^absent/] }],
    says: 'ready',
    versions,
  },
  {
    name: 'ended-turn',
    priority: 25,
    region: 'last-turn',
    any: [/^ {2}Worked for \S.* • \d{1,2}:\d{2}/m, /^■ /m],
    says: 'ready',
    versions,
  },
  {
    name: 'no-turn',
    priority: 20,
    region: 'last-turn',
    all: [/^[│ ]*>_ OpenAI Codex \(v/m],
    not: [/^[•◦■✔✗] /m],
    says: 'ready',
    versions,
  },
]

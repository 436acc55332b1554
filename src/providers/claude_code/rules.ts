/** What the screen of Claude Code can say, as data. Versions seen: 2.1.332, without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { ClaudeRegion } from './regions.ts'

export type ClaudeSays = 'permission' | 'question' | 'list' | 'retrying' | 'busy' | 'background' | 'ready'

const spinner = String.raw`^[·✢✳✶✻✽*∗] `

export const claudeRules: readonly ScreenRule<ClaudeRegion, ClaudeSays>[] = [
  { name: 'permission prompt', priority: 90, region: 'ending', all: [/^ Esc to cancel\b/], says: 'permission' },
  {
    name: 'question',
    priority: 90,
    region: 'ending',
    all: [/^Enter to select · .*Esc to cancel$/],
    says: 'question',
  },
  { name: 'list', priority: 80, region: 'list', all: [/./], says: 'list' },
  {
    name: 'retrying line',
    priority: 70,
    region: 'activity',
    all: [new RegExp(String.raw`${spinner}.* · retrying in \d+s · attempt \d+/\d+$`)],
    says: 'retrying',
  },
  { name: 'interrupt footer', priority: 60, region: 'footer', all: [/\besc to interrupt\b/], says: 'busy' },
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
    all: [new RegExp(String.raw`${spinner}\S+…`)],
    says: 'busy',
  },
  // The footer's hint goes while the composer holds text, the working line while the answer comes in.
  { name: 'working title', priority: 45, region: 'title', all: [/^[◐◓◑◒] /], says: 'busy' },
  { name: 'resting footer', priority: 30, region: 'footer', all: [/^/], says: 'ready' },
]

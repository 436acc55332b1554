/** What the screen of opencode can say, as data. Versions seen: 1.18.33. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { OpencodeRegion } from './regions.ts'

export const opencodeRules: readonly ScreenRule<OpencodeRegion>[] = [
  {
    name: 'permission-prompt',
    priority: 90,
    region: 'ending',
    all: [/^ *┃ +Allow once +Allow always +Reject\b/m],
    says: 'permission',
  },
  { name: 'always-prompt', priority: 90, region: 'ending', all: [/^ *┃ +Confirm +Cancel\b/m], says: 'permission' },
  { name: 'tabs-prompt', priority: 90, region: 'ending', all: [/^ *┃ +⇆ tab\b.*\besc dismiss\b/m], says: 'question' },
  {
    name: 'question-prompt',
    priority: 90,
    region: 'ending',
    all: [/^ *┃ +↑↓ select +enter submit +esc dismiss\b/m],
    says: 'question',
  },
  { name: 'covered', priority: 80, region: 'cover', says: 'nothing' },
  { name: 'retrying-footer', priority: 60, region: 'footer', all: [/\bretrying (?:in|attempt)\b/], says: 'retrying' },
  { name: 'interrupt-footer', priority: 50, region: 'footer', all: [/\besc (?:again to )?interrupt\b/], says: 'busy' },
  { name: 'home', priority: 40, region: 'home', says: 'fresh' },
  { name: 'quiet-footer', priority: 30, region: 'footer', says: 'ready' },
]

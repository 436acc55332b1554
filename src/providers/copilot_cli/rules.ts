/** What the screen of Copilot CLI can say, as data. Versions seen: 1.0.102, with and without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { CopilotRegion } from './regions.ts'

type Rule = ScreenRule<CopilotRegion | SharedRegion>
const versions = '1.0.102'
/** A circle that fills and empties, and what it is at. */
const spinner = /^ [○◎◉●◯◐◓◑◒] \S/m

export const copilotRules: readonly Rule[] = [
  { name: 'trust', priority: 95, region: 'dialog', all: [/^\s*Confirm folder trust$/m], says: 'trust', versions },
  {
    name: 'login',
    priority: 95,
    region: 'dialog',
    all: [/\b(?:log ?in|sign ?in|authenticate)\b/i],
    not: [/\bDo you want to (?:run|use|edit|create|allow|fetch)\b/],
    also: [{ region: 'keys', not: [/\bctrl\+d decline\b/] }],
    says: 'login',
    versions,
  },
  { name: 'question', priority: 92, region: 'keys', all: [/\bctrl\+d decline\b/], says: 'question', versions },
  {
    name: 'permission',
    priority: 90,
    region: 'dialog',
    all: [/^\s*Do you want to .*\?$|^\s*(?:[❯ ] )?\d\. No, and tell Copilot/m],
    says: 'permission',
    versions,
  },
  // Whatever its words are: something that waits for a choice stands where the composer would be.
  { name: 'dialog', priority: 80, region: 'dialog', all: [/./], says: 'question', versions },
  {
    name: 'retrying',
    priority: 70,
    region: 'turn',
    all: [/^ ● (?:Request failed|Response was interrupted) .*Retrying\.\.\.$/m],
    also: [{ region: 'footer', all: [spinner] }],
    says: 'retrying',
    versions,
  },
  { name: 'working footer', priority: 60, region: 'footer', all: [spinner], says: 'busy', versions },
  {
    name: 'not signed in',
    priority: 50,
    region: 'bottom',
    all: [/\/login to sign in to Copilot/],
    says: 'login',
    versions,
  },
  {
    name: 'resting footer',
    priority: 30,
    region: 'footer',
    any: [/ · (?:\/ commands|@ files)/, /^ (?:← open sidebar · )?(?:Interactive|Plan|Autopilot|Shell)\b/m],
    says: 'ready',
    versions,
  },
]

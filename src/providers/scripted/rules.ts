/** What a scripted agent's screen can say, as data. Versions seen: the agent of this repository. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { ScriptedRegion } from './regions.ts'

export const scriptedRules: readonly ScreenRule<ScriptedRegion>[] = [
  { name: 'trust dialog', priority: 90, region: 'frame', all: [/^Trust$/], says: 'trust' },
  { name: 'permission dialog', priority: 80, region: 'frame', all: [/^Permission$/], says: 'permission' },
  { name: 'question dialog', priority: 80, region: 'frame', all: [/^Question$/], says: 'question' },
  { name: 'working footer', priority: 60, region: 'footer', all: [/^ {2}working · Esc to interrupt/], says: 'busy' },
  { name: 'activity line', priority: 50, region: 'activity', all: [/^[✶✻✽✢] Working… \(\d+s/], says: 'busy' },
  { name: 'rate limit line', priority: 45, region: 'activity', all: [/^✗ /, /429/], says: 'rate_limited' },
  { name: 'error line', priority: 40, region: 'activity', all: [/^✗ /], says: 'api_error' },
  { name: 'resting footer', priority: 30, region: 'footer', all: [/^ {2}Enter to send · /], says: 'ready' },
  { name: 'starting line', priority: 10, region: 'plain', all: [/^scripted is starting…$/], says: 'nothing' },
]

/** What the screen of Kimi Code can say, as data. Versions seen: 2.1.0, with and without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { KimiRegion } from './regions.ts'

type Rule = ScreenRule<KimiRegion | SharedRegion>
const versions = '2.1.0'
/** The phases of the moon, or dots that turn. */
const spinner = /^ {1,3}(?:[\u2801-\u28ff]|[🌑🌒🌓🌔🌕🌖🌗🌘])(?: |$)/mu
const present = { region: 'composer', not: [/^absent$/] } as const

export const kimiRules: readonly Rule[] = [
  { name: 'trust', priority: 95, region: 'dialog', all: [/^\s*Trust this folder\?$/m], says: 'trust', versions },
  {
    name: 'login',
    priority: 95,
    region: 'dialog',
    all: [/^\s*(?:Select a platform\b|.*\bLog ?in to Kimi)/m],
    says: 'login',
    versions,
  },
  {
    name: 'permission',
    priority: 90,
    region: 'keys',
    any: [/\bchoose · ↵ confirm\b/, /\bType feedback · ↵ submit\b/],
    says: 'permission',
    versions,
  },
  {
    name: 'question',
    priority: 90,
    region: 'keys',
    any: [/↵ (?:choose|toggle|save|confirm) .*\besc cancel$/],
    says: 'question',
    versions,
  },
  // Whatever its words are: something that waits for a choice stands where the composer would be.
  { name: 'dialog', priority: 80, region: 'dialog', all: [/./], says: 'question', versions },
  {
    name: 'retrying',
    priority: 70,
    region: 'activity',
    all: [spinner, /\bRetrying \(\d+\/\d+\)/],
    says: 'retrying',
    versions,
  },
  { name: 'spinner', priority: 60, region: 'activity', all: [spinner], says: 'busy', versions },
  {
    name: 'background work',
    priority: 50,
    region: 'footer',
    all: [/ {2}\[\d+ (?:agents?|tasks?|commands?)\b[^\]\n]* running\]/],
    says: 'background',
    versions,
  },
  {
    name: 'not signed in',
    priority: 40,
    region: 'head',
    all: [/^ │ {2}Model: +not set, run \/login/m],
    also: [{ region: 'composer', all: [/^empty$/] }],
    says: 'login',
    versions,
  },
  // The line above the composer is blank: the program is at nothing.
  { name: 'resting', priority: 30, region: 'activity', all: [/^$/], also: [present], says: 'ready', versions },
]

/** What the screen of Qwen Code can say, as data. Versions seen: 0.24.4, with and without TMUX in its environment. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { QwenRegion } from './regions.ts'

type Rule = ScreenRule<QwenRegion | SharedRegion>

const versions = '0.24.4'
const hasOptions = /^[›❯]? ?1\. \S/m
const withComposer = { region: 'composer', not: [/^absent/] } as const

export const qwenRules: readonly Rule[] = [
  {
    name: 'folder-trust',
    priority: 96,
    region: 'dialog',
    all: [/^Do you trust this folder\?/m],
    says: 'trust',
    versions,
  },
  {
    name: 'sign-in',
    priority: 96,
    region: 'dialog',
    any: [/\b(?:Select|Choose) (?:an? )?(?:authentication|auth)\b/i, /^Connect (?:an|a) (?:LLM )?provider\b/im],
    says: 'login',
    versions,
  },
  {
    name: 'permission',
    priority: 95,
    region: 'dialog',
    all: [/^[›❯]? ?\d\. (?:Yes, allow once|Allow once|Yes, and )/m, /^[›❯]? ?\d\. No\b/m],
    says: 'permission',
    versions,
  },
  {
    name: 'question',
    priority: 94,
    region: 'dialog',
    all: [hasOptions, /^↑\/↓: Navigate \|.*\bEsc: Cancel\b/m],
    says: 'question',
    versions,
  },
  // What is not known is a question to the person, never a key.
  { name: 'unknown-dialog', priority: 60, region: 'dialog', all: [hasOptions], says: 'question', versions },
  // The title, and a line on waiting, are there before the dialog is drawn: they say nothing by themselves.
  { name: 'working-title', priority: 50, region: 'title', all: [/^◐/], says: 'busy', versions },
  { name: 'steering', priority: 45, region: 'footer', all: [/^ {2}Enter to steer\b/m], says: 'busy', versions },
  {
    name: 'working-line',
    priority: 45,
    region: 'status',
    all: [/\(\d+[hms][^()\n]*(?:·|esc)/],
    says: 'busy',
    versions,
  },
  {
    name: 'resting-title',
    priority: 40,
    region: 'title',
    all: [/^Qwen - /],
    also: [withComposer],
    says: 'ready',
    versions,
  },
  {
    name: 'resting-footer',
    priority: 20,
    region: 'footer',
    all: [/^ {2}➜ .*\n {2}[⏸⏵▶✎]?.*\(shift \+ tab to cycle\)/m],
    also: [withComposer],
    says: 'ready',
    versions,
  },
]

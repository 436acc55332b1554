/** What the screen of Gemini CLI can say, as data. Versions seen: 0.61.0, with and without TMUX in its environment, with hooks and without. */
import type { ScreenRule } from '../../screen/rules.ts'
import type { SharedRegion } from '../screen-reader.ts'
import type { GeminiRegion } from './regions.ts'

type Rule = ScreenRule<GeminiRegion | SharedRegion>

const versions = '0.61.0'
const hasOptions = /^[●○ ] ?1\. +\S/m
const withComposer = { region: 'composer', not: [/^absent/] } as const
const spinner = /[\u2801-\u28ff]/

export const geminiRules: readonly Rule[] = [
  {
    name: 'folder-trust',
    priority: 96,
    region: 'dialog',
    all: [/^Do you trust the files in this folder\?/m],
    says: 'trust',
    versions,
  },
  {
    name: 'sign-in',
    priority: 96,
    region: 'dialog',
    any: [
      /^(?:Enter Gemini API Key|Get started|How would you like to authenticate)/m,
      /\b(?:Login|Sign in) with Google$/m,
      /^Waiting for auth\b/m,
    ],
    says: 'login',
    versions,
  },
  {
    name: 'permission',
    priority: 95,
    region: 'dialog',
    all: [hasOptions],
    any: [
      /^(?:Allow execution of|Apply this change\?|Do you want to proceed\?)/m,
      /^[●○ ] ?1\. +(?:Allow|Yes, allow) once$/m,
    ],
    says: 'permission',
    versions,
  },
  { name: 'question', priority: 95, region: 'dialog', all: [/^Answer Questions$/m], says: 'question', versions },
  // What is not known is a question to the person, never a key.
  { name: 'unknown-dialog', priority: 60, region: 'dialog', all: [hasOptions], says: 'question', versions },
  // The title is there before the dialog is drawn, so it is not enough.
  {
    name: 'waiting-title',
    priority: 55,
    region: 'dialog',
    all: [/\S/],
    also: [{ region: 'title', all: [/^✋/] }],
    says: 'question',
    versions,
  },
  { name: 'working-title', priority: 50, region: 'title', all: [/^[✦⏲]/], says: 'busy', versions },
  // Without a title, as where the person has it off in another version.
  {
    name: 'working-line',
    priority: 45,
    region: 'status',
    any: [/\besc to cancel\b/],
    also: [{ region: 'title', not: [/^◇/] }],
    says: 'busy',
    versions,
  },
  {
    name: 'hooks-line',
    priority: 45,
    region: 'status',
    all: [spinner],
    also: [{ region: 'title', not: [/^◇/] }],
    says: 'busy',
    versions,
  },
  { name: 'resting-title', priority: 40, region: 'title', all: [/^◇/], also: [withComposer], says: 'ready', versions },
  {
    name: 'resting-line',
    priority: 20,
    region: 'status',
    all: [/^ *\? for shortcuts/m],
    not: [spinner],
    also: [withComposer],
    says: 'ready',
    versions,
  },
]

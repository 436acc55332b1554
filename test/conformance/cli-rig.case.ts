/**
 * What the states suite needs to know of a CLI that its provider does not: where its program comes from, what a person would have in their
 * own files, and what it can not be brought to. A new CLI is one entry of `rigs`.
 */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { claudePackage, claudeVersion } from '../../src/providers/claude_code/install.ts'
import { codexPackage, codexVersion } from '../../src/providers/codex/install.ts'
import { copilotPackage, copilotVersion } from '../../src/providers/copilot_cli/install.ts'
import { geminiPackage, geminiVersion } from '../../src/providers/gemini_cli/install.ts'
import { kimiPackage, kimiVersion } from '../../src/providers/kimi_cli/install.ts'
import { installProgram, type NpmProgram } from '../../src/providers/npm-program.ts'
import { opencodePackage, opencodeVersion } from '../../src/providers/opencode_cli/install.ts'
import type { Key } from '../../src/providers/provider.ts'
import { qwenPackage, qwenVersion } from '../../src/providers/qwen_cli/install.ts'
import { furnishHome } from './claude-program.case.ts'
import { furnishHome as furnishCodexHome } from './codex-program.case.ts'
import { copilotEnv } from './copilot-program.case.ts'
import { furnishGemini, geminiEnv } from './gemini-program.case.ts'
import { furnishKimi, kimiEnv } from './kimi-program.case.ts'
import { furnishOpencode } from './opencode-program.case.ts'
import { furnishQwen, qwenEnv } from './qwen-program.case.ts'

export const installLimitMs = 300_000

/** The states of every CI run, which has no time for all. */
export const essentialStates: readonly string[] = [
  'ready after the start',
  'an answer',
  'streaming',
  'a silent model, and an interrupt',
  'a permission that is given',
  'a permission that is refused',
  'a question',
  'the answer to the byte: markdown',
  'HTTP 400',
  'the end of the program, and its conversation again',
]

export type CliRig = {
  readonly provider: string
  /** Its essential states are a part of every CI run. */
  readonly isInCi: boolean
  /** The verified one. */
  readonly version: string
  readonly programAt: (version: string) => NpmProgram
  /** Of the folder in `.cache/clis`. */
  readonly folder: string
  /** The person's own files. `port`: of the scripted model. */
  readonly furnish: (home: string, port: number) => void
  readonly env: (port: number) => Readonly<Record<string, string>>
  /** HTTP errors after which it tries again by itself, for longer than a test can wait; after the others it gives up. */
  readonly retries: readonly number[]
  /** What it does when the connection breaks off in mid-answer; undefined: not tried. */
  readonly dropped?: 'retried' | 'failed'
  /** It tells nobody that it tries again: it is at work. */
  readonly hidesRetries?: true
  /** It says when a limit ends that the model names the end of. */
  readonly tellsLimitEnd?: true
  /** It asks something that only the person can answer where it was never used before. */
  readonly greetsNewcomers?: true
  /** It has a tool to ask the person something. */
  readonly asks: boolean
  /** A message that makes it ask before it runs `command`; undefined: `tool COMMAND` does. */
  readonly askingFor?: (command: string) => string
  /** A text of the model that its own records lose, and what is left of it. */
  readonly keeps?: (text: string) => string
  /** What covers its composer, or takes its keys for something else: how it is opened and left, one group of keys after the other. */
  readonly pickers?: readonly {
    readonly name: string
    readonly open: readonly Keys[]
    readonly leave: readonly Keys[]
  }[]
  /** A command of its own, and what is then on the screen. */
  readonly command?: { readonly text: string; readonly shows: RegExp }
}
type Keys = readonly Key[]

const text = (word: string): Keys => [{ kind: 'text', text: word }]
const key = (name: string): Keys => [{ kind: 'key', name }]

export const rigs: readonly CliRig[] = [
  {
    provider: 'claude_code',
    isInCi: true,
    version: claudeVersion,
    programAt: (version) => ({ ...claudePackage, version }),
    folder: 'claude',
    furnish: (home) => void furnishHome(home),
    env: (port) => ({ ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_AUTH_TOKEN: 'none' }),
    retries: [429, 500],
    dropped: 'retried',
    tellsLimitEnd: true,
    greetsNewcomers: true,
    asks: true,
    pickers: [
      { name: 'the menu of commands', open: [text('/')], leave: [key('C-u')] },
      { name: 'the menu of files', open: [text('@')], leave: [key('C-u')] },
      { name: 'the shell mode', open: [text('!')], leave: [key('BSpace')] },
      { name: 'the search of former prompts', open: [key('C-r')], leave: [key('Escape')] },
      { name: 'the list of models', open: [text('/model'), key('Enter')], leave: [key('Escape')] },
      { name: 'the transcript', open: [key('C-o')], leave: [key('C-o')] },
    ],
    command: { text: '/status', shows: /Version|Session/ },
  },
  {
    provider: 'codex',
    isInCi: true,
    version: codexVersion,
    // Its package has the machine in the version.
    programAt: (version) => ({ ...codexPackage, version: codexPackage.version.replace(codexVersion, version) }),
    folder: 'codex',
    furnish: (home, port) => void furnishCodexHome(home, { port }),
    env: () => ({ OPENAI_API_KEY: 'none' }),
    retries: [],
    dropped: 'failed',
    tellsLimitEnd: true,
    greetsNewcomers: true,
    asks: true,
    pickers: [
      { name: 'the menu of commands', open: [text('/')], leave: [key('BSpace')] },
      { name: 'the menu of files', open: [text('@')], leave: [key('BSpace')] },
      { name: 'the list of models', open: [text('/model'), key('Enter')], leave: [key('Escape')] },
      { name: 'the transcript', open: [key('C-t')], leave: [text('q')] },
    ],
    command: { text: '/status', shows: /Model|Directory|Session/ },
    // Inside of its sandbox it asks for nothing.
    askingFor: (command) =>
      `call exec_command ${JSON.stringify({ cmd: command, sandbox_permissions: 'require_escalated', justification: 'test' })}`,
  },
  {
    provider: 'opencode_cli',
    isInCi: true,
    version: opencodeVersion,
    programAt: (version) => ({ ...opencodePackage, version }),
    folder: 'opencode',
    furnish: furnishOpencode,
    env: () => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
    retries: [400, 429, 500],
    dropped: 'retried',
    asks: true,
    pickers: [
      { name: 'the menu of commands', open: [text('/')], leave: [key('BSpace')] },
      { name: 'the menu of files', open: [text('@')], leave: [key('BSpace')] },
      { name: 'the shell mode', open: [text('!')], leave: [key('Escape')] },
      { name: 'the palette of commands', open: [key('C-p')], leave: [key('Escape')] },
      { name: 'the list of models', open: [text('/models'), key('Enter')], leave: [key('Escape')] },
    ],
    command: { text: '/help', shows: /[Hh]elp/ },
  },
  {
    provider: 'gemini_cli',
    isInCi: true,
    version: geminiVersion,
    programAt: (version) => ({ ...geminiPackage, version }),
    folder: 'gemini',
    furnish: (home) => void furnishGemini(home),
    env: geminiEnv,
    retries: [429, 500],
    hidesRetries: true,
    asks: true,
    // It takes the joiner of compound emoji out of all that it shows and keeps.
    keeps: (text) => text.replaceAll('\u200d', ''),
  },
  {
    provider: 'qwen_cli',
    isInCi: false,
    version: qwenVersion,
    programAt: (version) => ({ ...qwenPackage, version }),
    folder: 'qwen',
    furnish: (home) => void furnishQwen(home),
    env: qwenEnv,
    retries: [429, 500],
    hidesRetries: true,
    asks: true,
  },
  {
    provider: 'copilot_cli',
    isInCi: false,
    version: copilotVersion,
    programAt: (version) => ({ ...copilotPackage, version }),
    folder: 'copilot',
    furnish: () => undefined,
    env: copilotEnv,
    // It tries again for up to a minute, and gives up.
    retries: [],
    asks: true,
  },
  {
    provider: 'kimi_cli',
    isInCi: false,
    version: kimiVersion,
    programAt: (version) => ({ ...kimiPackage, version }),
    folder: 'kimi',
    furnish: (home, port) => void furnishKimi(home, port),
    env: () => kimiEnv,
    retries: [429, 500],
    asks: true,
  },
]

/** Errors: an Error when there is none. */
export function requireRig(provider: string): CliRig {
  const rig = rigs.find((each) => each.provider === provider)
  if (rig === undefined)
    throw new Error(`no rig for ${provider}: there are ${rigs.map((each) => each.provider).join(', ')}`)
  return rig
}

const root = join(import.meta.dirname, '..', '..')

/** The folder of the program. Errors: an Error that says why it could not be installed. */
export async function requireProgram({ programAt, folder }: CliRig, version: string): Promise<string> {
  const dir = join(root, '.cache', 'clis', `${folder}-${version}`)
  mkdirSync(dirname(dir), { recursive: true })
  const waiting = { signal: AbortSignal.timeout(installLimitMs) }
  const installed = await installProgram(programAt(version), { dir, npm: ['npm'] }, waiting)
  if (installed.kind === 'failed') throw new Error(`${folder} ${version} could not be installed: ${installed.why}`)
  return dirname(installed.program)
}

export type RunPlan = {
  readonly runs: readonly { readonly rig: CliRig; readonly version: string }[]
  readonly sizes: readonly string[]
  readonly isEssential: boolean
}

/** What scripts/conformance.mjs asks for; without it every CLI at its verified version, in a narrow terminal and a wide one. */
export function readRunPlan(env: Readonly<Record<string, string | undefined>>): RunPlan {
  const isEssential = env['CAO_CONFORMANCE_ESSENTIAL'] === '1'
  const usual = rigs.filter(({ isInCi }) => isInCi || !isEssential).map(({ provider }) => provider)
  const named = env['CAO_CONFORMANCE_CLIS']?.split(',') ?? usual
  const runs = named.map((word) => {
    const [name = '', version] = word.split('@')
    const rig = requireRig(name)
    return { rig, version: version ?? rig.version }
  })
  const sizes = env['CAO_CONFORMANCE_SIZES']?.split(',') ?? ['80x24', '200x50']
  return { runs, sizes, isEssential }
}

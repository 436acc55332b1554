/**
 * Every option of CAO, once: its name in settings.json and in `cao config`, its environment variable, its kind, its default,
 * and the words for it. The server's configuration, `cao config`, the checks and the table in README.md (a test holds it
 * to this one) all come from here; a new option is one entry, read by `config.options['NAME']` in `main/start-server.ts`.
 *
 * What wins: a flag, then the environment, then settings.json, then the default. An empty variable counts as unset.
 * Names that upstream's settings have mean the same here. Pure; `home/settings-file.ts` knows the file.
 */
import { AppError } from '../domain/errors.ts'
import { noticeKinds, noticeKindsDefault } from '../domain/notice-kind.ts'
import { nearWords } from '../lib/near-words.ts'
import {
  argv,
  choice,
  folders,
  list,
  type OptionType,
  port,
  quietHours,
  someOf,
  terminalSize,
  text,
  wholeNumber,
} from './option-types.ts'
import { defaultPort } from './version.ts'

export type Option<T, D = T> = {
  readonly type: OptionType<T>
  readonly default: D
  /** Undefined: only in settings.json. */
  readonly env?: string
  /** For the table in README.md, in its Markdown; what the default is, where it needs words, stands here too. */
  readonly meaning: string
  /** When a change is seen. */
  readonly appliesAt: 'server start'
  /** Its value is a secret: shown masked, and not taken as an argument. */
  readonly isSecret?: true
}

const option = <T, const D extends T | undefined>(row: Option<T, D>): Option<T, D> => row

export const optionTable = {
  'server.host': option({
    env: 'CAO_API_HOST',
    type: text,
    default: '127.0.0.1',
    meaning: 'address of the TCP door; loopback only',
    appliesAt: 'server start',
  }),
  'server.port': option({
    env: 'CAO_API_PORT',
    type: port,
    default: defaultPort,
    meaning: 'its port; `0` is any free one, `none` is no TCP door',
    appliesAt: 'server start',
  }),
  'server.allowed_hosts': option({
    env: 'CAO_ALLOWED_HOSTS',
    type: list,
    default: [],
    meaning: 'more names that may stand in `Host`, with commas',
    appliesAt: 'server start',
  }),
  'server.cors_origins': option({
    env: 'CAO_CORS_ORIGINS',
    type: list,
    default: [],
    meaning: 'origins of web pages that may change something, with commas',
    appliesAt: 'server start',
  }),
  'server.provider_init_timeout': option({
    type: wholeNumber(1, 3_600),
    default: undefined,
    meaning:
      'how long an agent may take to become ready, in seconds, where its profile does not say; its CLI’s own when unset',
    appliesAt: 'server start',
  }),
  'terminal.backend': option({
    env: 'CAO_TERMINAL_BACKEND',
    type: choice('tmux'),
    default: 'tmux',
    meaning: 'what holds the agents',
    appliesAt: 'server start',
  }),
  'terminal.tmux_socket': option({
    env: 'CAO_TMUX_SOCKET',
    type: text,
    default: undefined,
    meaning: 'socket of a tmux server to be a guest on, instead of our own',
    appliesAt: 'server start',
  }),
  'terminal.size': option({
    env: 'CAO_TERMINAL_SIZE',
    type: terminalSize,
    default: { cols: 200, rows: 50 },
    meaning: 'columns and rows of every agent’s terminal; the smaller window of a person does not change it',
    appliesAt: 'server start',
  }),
  'terminal.recover': option({
    env: 'CAO_RECOVER',
    type: choice('manual', 'auto'),
    default: 'manual',
    meaning: '`auto` brings lost agents back without being asked',
    appliesAt: 'server start',
  }),
  'agents.provider': option({
    env: 'CAO_PROVIDER',
    type: text,
    default: undefined,
    meaning: 'the CLI of agents for which neither launch, profile nor caller names one; the first installed when unset',
    appliesAt: 'server start',
  }),
  'agents.extra_dirs': option({
    env: 'CAO_AGENT_DIRS',
    type: folders,
    default: [],
    meaning: 'more folders of profiles, asked after the stores and before the built-in ones, with commas',
    appliesAt: 'server start',
  }),
  'agents.profile_hosts': option({
    env: 'CAO_PROFILE_ALLOWED_HOSTS',
    type: list,
    default: ['github.com', 'raw.githubusercontent.com'],
    meaning:
      'hosts that `cao install` may fetch from, as `HOST` or `HOST:PORT`, with commas; one that is not of the public Internet needs its address here, too',
    appliesAt: 'server start',
  }),
  'agents.profile_ca_file': option({
    env: 'CAO_PROFILE_CA_FILE',
    type: text,
    default: undefined,
    meaning: 'certificates (PEM) to trust for these hosts, in place of the usual ones',
    appliesAt: 'server start',
  }),
  'skills.extra_dirs': option({
    env: 'CAO_SKILL_DIRS',
    type: folders,
    default: [],
    meaning: 'more folders of skills, asked after the stores and before the built-in ones, with commas',
    appliesAt: 'server start',
  }),
  'limits.depth': option({
    env: 'CAO_LIMIT_DEPTH',
    type: wholeNumber(1, 100),
    default: 5,
    meaning: 'how deep agents delegate: 1 is a worker of an agent that you started, 2 the worker of that one',
    appliesAt: 'server start',
  }),
  'limits.workers': option({
    env: 'CAO_LIMIT_WORKERS',
    type: wholeNumber(1, 10_000),
    default: 100,
    meaning: 'how many workers one session may have at once',
    appliesAt: 'server start',
  }),
  'limits.memory_mib': option({
    env: 'CAO_LIMIT_MEMORY_MIB',
    type: wholeNumber(0, 10_000_000),
    default: 200,
    meaning: 'no agent is started while less memory is free, in MiB; `0` never looks',
    appliesAt: 'server start',
  }),
  'limits.load': option({
    env: 'CAO_LIMIT_LOAD',
    type: wholeNumber(0, 10_000),
    default: 50,
    meaning: 'no agent is started while the load of a minute is higher, for each core; `0` never looks',
    appliesAt: 'server start',
  }),
  'limits.hops': option({
    env: 'CAO_LIMIT_HOPS',
    type: wholeNumber(1, 10_000),
    default: 50,
    meaning:
      'how many messages agents may send each other in a row, each because of the one before, without you or a job in between',
    appliesAt: 'server start',
  }),
  'people.hold_on_interrupt': option({
    env: 'CAO_HOLD_ON_INTERRUPT',
    type: choice('no', 'yes'),
    default: 'no',
    meaning: '`yes`: when you interrupt an agent, nothing more is typed into it until `cao release` or your next input',
    appliesAt: 'server start',
  }),
  'retention.days': option({
    env: 'CAO_RETENTION_DAYS',
    type: wholeNumber(1, 3_650),
    default: 30,
    meaning: 'how long what has ended (agents that exited or were lost, their messages, jobs and events) is remembered',
    appliesAt: 'server start',
  }),
  'notify.command': option({
    env: 'CAO_NOTIFY_COMMAND',
    type: argv,
    default: undefined,
    meaning: 'program and arguments, as a JSON list, that is run to tell you of what happens ([how](docs/notify.md))',
    appliesAt: 'server start',
  }),
  'notify.url': option({
    env: 'CAO_NOTIFY_URL',
    type: text,
    default: undefined,
    meaning: 'https URL (http on this machine) that the same is posted to',
    appliesAt: 'server start',
    isSecret: true,
  }),
  'notify.secret_file': option({
    env: 'CAO_NOTIFY_SECRET_FILE',
    type: text,
    default: undefined,
    meaning: 'private file with the secret for it, sent as `Authorization: Bearer`',
    appliesAt: 'server start',
  }),
  'notify.kinds': option({
    env: 'CAO_NOTIFY_KINDS',
    type: someOf(...noticeKinds),
    default: noticeKindsDefault,
    meaning: 'what you are told of: `question`, `stuck`, `ended`, `lost`, `finished`, `worktree`, with commas',
    appliesAt: 'server start',
  }),
  'notify.quiet': option({
    env: 'CAO_NOTIFY_QUIET',
    type: quietHours,
    default: undefined,
    meaning: 'hours without a word, such as `22:00-07:30`; what was due is told after them at once',
    appliesAt: 'server start',
  }),
  'notify.batch_s': option({
    env: 'CAO_NOTIFY_BATCH_S',
    type: wholeNumber(0, 3_600),
    default: 5,
    meaning: 'how long a burst is gathered before you are told, in seconds',
    appliesAt: 'server start',
  }),
  'logging.level': option({
    env: 'CAO_LOG_LEVEL',
    type: choice('trace', 'debug', 'info', 'warn', 'error'),
    default: 'info',
    meaning: 'the least that `logs/server.log` is told',
    appliesAt: 'server start',
  }),
} as const

export type OptionName = keyof typeof optionTable
type ValueOf<N extends OptionName> = (typeof optionTable)[N] extends Option<infer T, infer D> ? T | D : never
export type OptionValues = { readonly [N in OptionName]: ValueOf<N> }

/** settings.json as it was read: `{"server": {"port": 9890}}`. */
export type Settings = Readonly<Record<string, unknown>>

export type OptionSources = {
  readonly flags?: Readonly<Partial<Record<OptionName, string | undefined>>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings: Settings
}
export type OptionSource = 'flag' | 'environment' | 'settings' | 'default'
export type FoundOption = { readonly value: unknown; readonly source: OptionSource }

export const optionNames = Object.keys(optionTable) as readonly OptionName[]
/** With the value's type given up: what code that handles every option alike works with. */
export const optionOf = (name: OptionName): Option<unknown, unknown> =>
  optionTable[name] as unknown as Option<unknown, unknown>

/** The value that holds, and who says it. Errors: BAD_REQUEST naming the place, never the value of a secret. */
export function findOption(name: OptionName, { flags = {}, env, settings }: OptionSources): FoundOption {
  const row = optionOf(name)
  const given = [
    { source: 'flag', at: `--${name.split('.').at(-1)?.replaceAll('_', '-')}`, value: flags[name] },
    { source: 'environment', at: row.env ?? '', value: row.env === undefined ? undefined : env[row.env] },
    { source: 'settings', at: `${name} in settings.json`, value: readSetting(settings, name) },
  ] as const
  const first = given.find(({ value }) => value !== undefined && value !== null && value !== '')
  if (first === undefined) return { value: row.default, source: 'default' }
  return { value: parseOption(name, first.value, first.at), source: first.source }
}

/** Errors: BAD_REQUEST naming the first place that is wrong. */
export function readOptions(sources: OptionSources): OptionValues {
  return Object.fromEntries(optionNames.map((name) => [name, findOption(name, sources).value])) as OptionValues
}

/** Errors: BAD_REQUEST. */
export function parseOption(name: OptionName, given: unknown, at: string = name): unknown {
  const row = optionOf(name)
  const parsed = row.type.parse(given)
  if (parsed !== undefined) return parsed.value
  const shown = row.isSecret ? '' : `, and not ${JSON.stringify(given)}`
  throw new AppError('BAD_REQUEST', `${at} takes ${row.type.words}${shown}`)
}

/** The option of this name. Errors: BAD_REQUEST with the names that are near. */
export function requireOptionName(name: string): OptionName {
  const known = optionNames.find((each) => each === name || optionOf(each).env === name)
  if (known !== undefined) return known
  const near = nearWords(name, optionNames)
  const hint = near.length === 0 ? '"cao config list" shows all' : `is it ${near.join(' or ')}?`
  throw new AppError('BAD_REQUEST', `no option is called ${JSON.stringify(name)}; ${hint}`)
}

export function readSetting(settings: Settings, name: OptionName): unknown {
  return name.split('.').reduce<unknown>((at, part) => (isGroup(at) ? at[part] : undefined), settings)
}

/** A copy with the option set; undefined takes it out. What is not ours in the file stays. */
export function writeSetting(settings: Settings, name: OptionName, value: unknown): Settings {
  const [group = '', key = ''] = name.split('.')
  const old = settings[group]
  const { [key]: _old, ...rest } = isGroup(old) ? old : {}
  const fresh = value === undefined ? rest : { ...rest, [key]: optionOf(name).type.toJson(value) }
  const { [group]: _group, ...others } = settings
  return Object.keys(fresh).length === 0 ? others : { ...others, [group]: fresh }
}

/** Stand in settings.json, too, with a shape of their own: who reads them knows it (`home/profile-stores.ts`). */
const tables = ['agents.roles']

/** Names in settings.json that are no option of ours: of upstream, or misspelled. */
export function unknownSettings(settings: Settings): readonly string[] {
  const known: ReadonlySet<string> = new Set([...optionNames, ...tables])
  return Object.entries(settings)
    .flatMap(([group, value]) => (isGroup(value) ? Object.keys(value).map((key) => `${group}.${key}`) : [group]))
    .filter((name) => !known.has(name))
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

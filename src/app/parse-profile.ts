/**
 * The format of a profile: a YAML front matter between two lines `---`, then the system prompt. Pure.
 *
 * Every complaint names file, line and field and says what is expected there. Fields that nobody knows are let pass, as
 * upstream does, and named in the profile; a role that nobody knows is refused, because it would quietly decide what the
 * agent may do. `${NAME}` is filled in from the given variables, in values only: what a variable holds can not become
 * another field.
 */
import { isMap, LineCounter, parseDocument } from 'yaml'
import { answerRulePattern } from '../domain/answer-policy.ts'
import {
  extraFields,
  type Profile,
  type ProfileExtras,
  type ProfileRules,
  profileNamePattern,
  roleTools,
} from '../domain/profile.ts'
import { FieldReader, invalidProfile, isRecord } from './profile-fields.ts'
import { fillIn, markVariables } from './profile-variables.ts'

export type ProfileText = {
  /** Name of the file without its ending; the front matter must agree. Undefined: not in a file yet; the front matter tells. */
  readonly name: string | undefined
  readonly text: string
  /** For messages. */
  readonly file: string
  readonly source: string
}

const listLengthMax = 32
const tagPattern = /^[A-Za-z0-9_-]{1,64}$/
const startupLimitSecondsMax = 3_600

/** Fields that every CLI is served with; the others are `extraFields`. */
export const commonFields = [
  'name',
  'description',
  'role',
  'provider',
  'model',
  'permissionMode',
  'allowedTools',
  'capabilities',
  'tags',
  'mcpServers',
  'skills',
  'supervisorMayAnswer',
  'provider_init_timeout',
] as const

/** Words of a choice, and no place for a secret. */
const chosenFields: readonly string[] = ['role', 'provider', 'provider_init_timeout']

/** Errors: PROFILE_INVALID. */
export function parseProfile(input: ProfileText, rules: ProfileRules): Profile {
  const { header, headerLine, body } = splitFrontMatter(input)
  const lineCounter = new LineCounter()
  const document = parseDocument(markVariables(header), {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: true,
    logLevel: 'error',
  })
  const lineOf = (offset: number | undefined) =>
    offset === undefined ? headerLine : headerLine + lineCounter.linePos(offset).line - 1
  const fault = document.errors[0]
  if (fault !== undefined) {
    const line = lineOf(fault.pos[0])
    throw invalidProfile({ file: input.file, line }, `its front matter is not YAML: ${firstSentence(fault.message)}`)
  }
  const { contents: map } = document
  const place = { file: input.file, line: headerLine }
  if (!isMap(map)) throw invalidProfile(place, 'its front matter must be a list of fields such as "name: developer"')
  const plain = { fields: plainValues(place, document), body: markVariables(body) }
  const filled = fillIn(plain, rules.variables)
  const shown = rules.isForShow === true ? fillIn(plain, {}) : filled
  const { fields, body: prompt } = shown.value as typeof plain
  const values = { ...fields, ...pick((filled.value as typeof plain).fields, chosenFields) }
  const reader = new FieldReader({ file: input.file, map, lineOf, values })
  return { ...readFields(reader, input, rules), systemPrompt: prompt.trim(), unresolvedVariables: filled.unresolved }
}

const pick = (fields: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))

type Document = ReturnType<typeof parseDocument>

function plainValues(place: { file: string; line: number }, document: Document): Readonly<Record<string, unknown>> {
  try {
    // A profile needs no aliases, and a few of them can blow up to gigabytes.
    return document.toJS({ maxAliasCount: 0 }) as Readonly<Record<string, unknown>>
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw invalidProfile(place, 'its front matter uses YAML aliases (*name): write the values out')
  }
}

function readFields(
  reader: FieldReader,
  input: ProfileText,
  rules: ProfileRules,
): Omit<Profile, 'systemPrompt' | 'unresolvedVariables'> {
  const name = reader.string('name') ?? input.name ?? reader.fail('name', 'is missing')
  if (input.name !== undefined && name !== input.name) {
    reader.fail('name', `must be "${input.name}", as the file is called, and is "${name}"`)
  }
  if (!profileNamePattern.test(name)) reader.fail('name', 'must have letters, digits, _ and - only, at most 64')
  const role = reader.string('role')
  const known: Readonly<Record<string, readonly string[]>> = { ...rules.roles, ...roleTools }
  const toolsOfRole = role === undefined ? roleTools.developer : Object.hasOwn(known, role) ? known[role] : undefined
  if (toolsOfRole === undefined) {
    return reader.fail(
      'role',
      `must be one of ${Object.keys(known).toSorted().join(', ')}, or left out, and is "${role}"`,
    )
  }
  const provider = reader.string('provider')
  if (provider !== undefined && !profileNamePattern.test(provider)) {
    reader.fail('provider', 'must be the name of a provider, such as opencode_cli')
  }
  const startupSeconds = reader.seconds('provider_init_timeout', startupLimitSecondsMax)
  return {
    name,
    description: reader.string('description') ?? '',
    role,
    roleTools: toolsOfRole,
    provider,
    model: reader.string('model'),
    permissionMode: reader.string('permissionMode'),
    allowedTools: reader.stringList('allowedTools'),
    capabilities: reader.stringList('capabilities', { most: listLengthMax }) ?? [],
    tags: reader.stringList('tags', { most: listLengthMax, pattern: tagPattern }) ?? [],
    mcpServers: reader.mcpServers('mcpServers'),
    skills: reader.stringList('skills'),
    supervisorMayAnswer: reader.stringList('supervisorMayAnswer', { most: listLengthMax, pattern: answerRulePattern }),
    startupLimitMs: startupSeconds === undefined ? undefined : Math.round(startupSeconds * 1000),
    extras: readExtras(reader),
    source: input.source,
    unknownFields: reader.names.filter(
      (field) => !Object.hasOwn(extraFields, field) && !commonFields.some((one) => one === field),
    ),
  }
}

function readExtras(reader: FieldReader): ProfileExtras {
  const aliases = reader.record('toolAliases')
  const fields = {
    engine: reader.string('engine'),
    prompt: reader.string('prompt'),
    native_agent: reader.string('native_agent'),
    container: readContainer(reader),
    claudeConfig: readClaudeConfig(reader),
    codexProfile: reader.string('codexProfile'),
    codexConfig: reader.record('codexConfig'),
    hermesProfile: reader.string('hermesProfile'),
    grokNativeWorkflows: reader.boolean('grokNativeWorkflows'),
    tools: reader.stringList('tools'),
    toolAliases: aliases === undefined ? undefined : reader.texts('toolAliases', aliases),
    toolsSettings: reader.record('toolsSettings'),
    resources: reader.stringList('resources'),
    hooks: reader.record('hooks'),
    useLegacyMcpJson: reader.boolean('useLegacyMcpJson'),
  } satisfies { readonly [F in keyof ProfileExtras]-?: ProfileExtras[F] | undefined }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ProfileExtras
}

function readContainer(reader: FieldReader): ProfileExtras['container'] | undefined {
  const container = reader.record('container')
  if (container === undefined) return undefined
  const maps = container['path_maps'] ?? []
  if (!Array.isArray(maps)) return reader.fail('container.path_maps', 'must be a list of {host, guest}')
  return {
    pathMaps: maps.map((one: unknown, index) => {
      const field = `container.path_maps[${index}]`
      const { host, guest } = isRecord(one) ? one : reader.fail(field, 'must be {host, guest}')
      return { host: reader.text(`${field}.host`, host), guest: reader.text(`${field}.guest`, guest) }
    }),
  }
}

function readClaudeConfig(reader: FieldReader): ProfileExtras['claudeConfig'] | undefined {
  const config = reader.record('claudeConfig')
  if (config === undefined) return undefined
  const { effort, fallback_model: fallback, ...others } = config
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) reader.fail(`claudeConfig.${unknown}`, 'is not known there; effort and fallback_model are')
  return {
    ...(effort === undefined ? {} : { effort: reader.text('claudeConfig.effort', effort) }),
    ...(fallback === undefined ? {} : { fallbackModel: reader.text('claudeConfig.fallback_model', fallback) }),
  }
}

function splitFrontMatter(input: ProfileText): { header: string; headerLine: number; body: string } {
  const lines = input.text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const place = { file: input.file, line: 1 }
  if (lines[0]?.trimEnd() !== '---') {
    throw invalidProfile(place, 'it must begin with a line "---", the fields, and another line "---"')
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end < 0) throw invalidProfile(place, 'its front matter has no end: add a line "---" after the fields')
  return { header: lines.slice(1, end).join('\n'), headerLine: 2, body: lines.slice(end + 1).join('\n') }
}

const firstSentence = (message: string): string => message.split('\n')[0] ?? message

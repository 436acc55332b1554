/**
 * The format of a profile: a YAML front matter between two lines `---`, then the system prompt. Pure.
 *
 * Every complaint names file, line and field and says what is expected there. Fields that upstream knows and we do
 * not are let pass, so that its profiles can be used as they are; a role that nobody knows is refused, because it
 * would quietly decide what the agent may do.
 */
import { isMap, isScalar, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { AppError } from '../domain/errors.ts'
import { type McpServer, type Profile, profileNamePattern, roles } from '../domain/profile.ts'

export type ProfileText = {
  /** Name of the file without its ending; the front matter must agree. */
  readonly name: string
  readonly text: string
  /** For messages. */
  readonly file: string
  readonly source: string
}

const listLengthMax = 32
const listItemLengthMax = 128
const startupLimitSecondsMax = 3_600

/** Errors: PROFILE_INVALID. */
export function parseProfile(input: ProfileText): Profile {
  const { header, headerLine, body } = splitFrontMatter(input)
  const lineCounter = new LineCounter()
  const document = parseDocument(header, { lineCounter, prettyErrors: false, uniqueKeys: true })
  const fault = document.errors[0]
  if (fault !== undefined) {
    const line = headerLine + lineCounter.linePos(fault.pos[0]).line - 1
    throw invalid(input.file, line, `its front matter is not YAML: ${firstSentence(fault.message)}`)
  }
  const { contents } = document
  if (!isMap(contents)) {
    throw invalid(input.file, headerLine, 'its front matter must be a list of fields such as "name: developer"')
  }
  const lineOf = (offset: number | undefined) =>
    offset === undefined ? headerLine : headerLine + lineCounter.linePos(offset).line - 1
  const reader = new FieldReader(input.file, contents, lineOf, plainValues(input, headerLine, document))
  return readFields(reader, input, body)
}

function plainValues(
  input: ProfileText,
  line: number,
  document: ReturnType<typeof parseDocument>,
): Readonly<Record<string, unknown>> {
  try {
    // A profile needs no aliases, and a few of them can blow up to gigabytes.
    return document.toJS({ maxAliasCount: 0 }) as Readonly<Record<string, unknown>>
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw invalid(input.file, line, 'its front matter uses YAML aliases (*name): write the values out')
  }
}

function readFields(reader: FieldReader, input: ProfileText, body: string): Profile {
  const name = reader.string('name') ?? input.name
  if (name !== input.name) reader.fail('name', `must be "${input.name}", as the file is called, and is "${name}"`)
  const role = reader.string('role')
  if (role !== undefined && !(roles as readonly string[]).includes(role)) {
    reader.fail('role', `must be one of ${roles.join(', ')}, or left out, and is "${role}"`)
  }
  const provider = reader.string('provider')
  if (provider !== undefined && !profileNamePattern.test(provider)) {
    reader.fail('provider', 'must be the name of a provider, such as opencode_cli')
  }
  const startupSeconds = reader.number('provider_init_timeout', startupLimitSecondsMax)
  return {
    name,
    description: reader.string('description') ?? '',
    role,
    provider,
    model: reader.string('model'),
    permissionMode: reader.string('permissionMode'),
    allowedTools: reader.stringList('allowedTools'),
    capabilities: reader.stringList('capabilities', listLengthMax) ?? [],
    tags: reader.stringList('tags', listLengthMax) ?? [],
    mcpServers: reader.mcpServers('mcpServers'),
    startupLimitMs: startupSeconds === undefined ? undefined : Math.round(startupSeconds * 1000),
    systemPrompt: body.trim(),
    source: input.source,
  }
}

/** One front matter, asked field by field; a field that is absent or null is undefined. */
class FieldReader {
  readonly #file: string
  readonly #map: YAMLMap
  readonly #lineOf: (offset: number | undefined) => number
  readonly #values: Readonly<Record<string, unknown>>

  constructor(
    file: string,
    map: YAMLMap,
    lineOf: (offset: number | undefined) => number,
    values: Readonly<Record<string, unknown>>,
  ) {
    this.#file = file
    this.#map = map
    this.#lineOf = lineOf
    this.#values = values
  }

  /** Errors: always PROFILE_INVALID, with the line of the field (`a.b.c` names a nested one; the line is the outermost's). */
  fail(field: string, complaint: string): never {
    const outermost = field.split(/[.[]/)[0] ?? field
    const pair = this.#map.items.find((item) => isScalar(item.key) && item.key.value === outermost)
    const offset = pair !== undefined && isScalar(pair.key) ? pair.key.range?.[0] : undefined
    throw invalid(this.#file, this.#lineOf(offset), `the field ${field} ${complaint}`)
  }

  string(field: string): string | undefined {
    const value = this.#values[field] ?? undefined
    if (value === undefined) return undefined
    return typeof value === 'string' ? value.trim() : this.fail(field, `must be a text; put it in quotes`)
  }

  number(field: string, most: number): number | undefined {
    const value = this.#values[field] ?? undefined
    if (value === undefined) return undefined
    const isGood = typeof value === 'number' && value > 0 && value <= most
    return isGood ? value : this.fail(field, `must be a number of seconds above 0 and at most ${most}`)
  }

  stringList(field: string, lengthMax = Number.POSITIVE_INFINITY): readonly string[] | undefined {
    const value = this.#values[field] ?? undefined
    if (value === undefined) return undefined
    if (!isStringList(value)) return this.fail(field, 'must be a list of texts, such as [one, "two"]')
    if (value.length > lengthMax) return this.fail(field, `must have at most ${lengthMax} items`)
    if (value.some((item) => item === '' || item.length > listItemLengthMax)) {
      return this.fail(field, `must have items of 1 to ${listItemLengthMax} characters`)
    }
    return value
  }

  mcpServers(field: string): Readonly<Record<string, McpServer>> {
    const value = this.#values[field] ?? undefined
    if (value === undefined) return {}
    if (!isRecord(value)) return this.fail(field, 'must map names of servers to {command, args, env}')
    return Object.fromEntries(
      Object.entries(value).map(([name, server]) => [name, this.#mcpServer(`${field}.${name}`, name, server)]),
    )
  }

  #mcpServer(field: string, name: string, server: unknown): McpServer {
    if (!profileNamePattern.test(name)) return this.fail(field, 'must be named with letters, digits, _ and - only')
    if (!isRecord(server)) return this.fail(field, 'must be {command, args, env}')
    const { command, args = [], env = {} } = server
    if (typeof command !== 'string' || command === '') {
      return this.fail(`${field}.command`, 'must be the program to start (servers by URL are not supported yet)')
    }
    if (!isStringList(args)) return this.fail(`${field}.args`, 'must be a list of texts')
    if (!isRecord(env) || !Object.values(env).every((item) => typeof item === 'string')) {
      return this.fail(`${field}.env`, 'must map names to texts; put numbers in quotes')
    }
    return { command, args, env: env as Readonly<Record<string, string>> }
  }
}

function splitFrontMatter(input: ProfileText): { header: string; headerLine: number; body: string } {
  const lines = input.text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== '---') {
    throw invalid(input.file, 1, 'it must begin with a line "---", the fields, and another line "---"')
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end < 0) throw invalid(input.file, 1, 'its front matter has no end: add a line "---" after the fields')
  return { header: lines.slice(1, end).join('\n'), headerLine: 2, body: lines.slice(end + 1).join('\n') }
}

function invalid(file: string, line: number, complaint: string): AppError {
  return new AppError('PROFILE_INVALID', `the profile ${file}, line ${line}, can not be used: ${complaint}`, {
    data: { file, line },
  })
}

const firstSentence = (message: string): string => message.split('\n')[0] ?? message
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

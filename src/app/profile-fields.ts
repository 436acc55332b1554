/**
 * The fields of a front matter, read one by one, each with its complaint: which field, on which line, what it must be. Pure.
 * `parse-profile.ts` says which fields there are.
 */
import { isScalar, type YAMLMap } from 'yaml'
import { AppError } from '../domain/errors.ts'
import { type McpServer, profileNamePattern } from '../domain/profile.ts'

const listItemLengthMax = 128

export type FieldSource = {
  readonly file: string
  readonly map: YAMLMap
  readonly lineOf: (offset: number | undefined) => number
  readonly values: Readonly<Record<string, unknown>>
}

/** One front matter, asked field by field; a field that is absent or null is undefined. */
export class FieldReader {
  readonly #source: FieldSource

  constructor(source: FieldSource) {
    this.#source = source
  }

  get names(): readonly string[] {
    return Object.keys(this.#source.values)
  }

  /** Errors: always PROFILE_INVALID, with the line of the field (`a.b.c` names a nested one; the line is the outermost's). */
  fail(field: string, complaint: string): never {
    const outermost = field.split(/[.[]/)[0] ?? field
    const pair = this.#source.map.items.find((item) => isScalar(item.key) && item.key.value === outermost)
    const offset = pair !== undefined && isScalar(pair.key) ? pair.key.range?.[0] : undefined
    throw invalidProfile(
      { file: this.#source.file, line: this.#source.lineOf(offset), field },
      `the field ${field} ${complaint}`,
    )
  }

  #value(field: string): unknown {
    return this.#source.values[field] ?? undefined
  }

  string(field: string): string | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    return typeof value === 'string' ? value.trim() : this.fail(field, `must be a text; put it in quotes`)
  }

  boolean(field: string): boolean | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    return typeof value === 'boolean' ? value : this.fail(field, 'must be true or false')
  }

  /** A number as a text is one, too: a variable gives no other. */
  seconds(field: string, most: number): number | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    const given = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
    const isGood = typeof given === 'number' && given > 0 && given <= most
    return isGood ? given : this.fail(field, `must be a number of seconds above 0 and at most ${most}`)
  }

  stringList(field: string, limits: { most?: number; pattern?: RegExp } = {}): readonly string[] | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    if (!isStringList(value)) return this.fail(field, 'must be a list of texts, such as [one, "two"]')
    const { most, pattern } = limits
    if (most !== undefined && value.length > most) return this.fail(field, `must have at most ${most} items`)
    if (value.some((item) => item === '' || item.length > listItemLengthMax)) {
      return this.fail(field, `must have items of 1 to ${listItemLengthMax} characters`)
    }
    const odd = pattern === undefined ? undefined : value.find((item) => !pattern.test(item))
    return odd === undefined ? value : this.fail(field, `must have items that match ${pattern}, and has "${odd}"`)
  }

  record(field: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    return isRecord(value) ? value : this.fail(field, 'must map names to values')
  }

  texts(field: string, value: unknown): Readonly<Record<string, string>> {
    if (!isRecord(value) || !Object.values(value).every((item) => typeof item === 'string')) {
      return this.fail(field, 'must map names to texts; put numbers in quotes')
    }
    return value as Readonly<Record<string, string>>
  }

  text(field: string, value: unknown): string {
    return typeof value === 'string' && value !== '' ? value : this.fail(field, 'must be a text that is not empty')
  }

  mcpServers(field: string): Readonly<Record<string, McpServer>> {
    const value = this.#value(field)
    if (value === undefined) return {}
    if (!isRecord(value)) return this.fail(field, 'must map names of servers to {command, args, env} or {type, url}')
    return Object.fromEntries(
      Object.entries(value).map(([name, server]) => [name, this.#mcpServer(`${field}.${name}`, name, server)]),
    )
  }

  #mcpServer(field: string, name: string, server: unknown): McpServer {
    if (!profileNamePattern.test(name)) return this.fail(field, 'must be named with letters, digits, _ and - only')
    if (!isRecord(server)) return this.fail(field, 'must be {command, args, env} or {type, url}')
    const { timeout } = server
    if (timeout !== undefined && !(typeof timeout === 'number' && Number.isInteger(timeout) && timeout > 0)) {
      return this.fail(`${field}.timeout`, 'must be a whole number of milliseconds above 0')
    }
    const limit = timeout === undefined ? {} : { timeoutMs: timeout }
    return { ...(server['url'] === undefined ? this.#local(field, server) : this.#remote(field, server)), ...limit }
  }

  #local(field: string, { type = 'stdio', command, args, env }: Readonly<Record<string, unknown>>): McpServer {
    if (type !== 'stdio') return this.fail(`${field}.type`, 'must be stdio for a command; http and sse need a url')
    if (typeof command !== 'string' || command === '') {
      return this.fail(`${field}.command`, 'must be the program to start; a server elsewhere has a url instead')
    }
    if (!isStringList(args ?? [])) return this.fail(`${field}.args`, 'must be a list of texts')
    return { command, args: (args ?? []) as readonly string[], env: this.texts(`${field}.env`, env ?? {}) }
  }

  #remote(field: string, { type = 'http', command, url, headers }: Readonly<Record<string, unknown>>): McpServer {
    if (command !== undefined) return this.fail(field, 'must have a command or a url, not both')
    const transport = ({ http: 'http', 'streamable-http': 'http', sse: 'sse' } as const)[String(type)]
    if (transport === undefined) return this.fail(`${field}.type`, 'must be http or sse for a url')
    if (typeof url !== 'string' || !/^https?:\/\//.test(url)) {
      return this.fail(`${field}.url`, 'must begin with https:// or http://')
    }
    return { url, transport, headers: this.texts(`${field}.headers`, headers ?? {}) }
  }
}

export type ProfilePlace = { readonly file: string; readonly line: number; readonly field?: string }

export function invalidProfile(place: ProfilePlace, complaint: string): AppError {
  const sentence = `the profile ${place.file}, line ${place.line}, can not be used: ${complaint}`
  return new AppError('PROFILE_INVALID', sentence, { data: { ...place, complaint } })
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

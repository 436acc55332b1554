/**
 * The profiles that a person keeps: installed from a name, a text or an address, replaced only when asked to, removed. What
 * is written is checked before, and is there whole or not at all; only the store of this CAO is written.
 */
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { profileNamePattern } from '../domain/profile.ts'
import { resolveTools } from '../domain/resolve-tools.ts'
import type { ToolList } from '../domain/tools.ts'
import { isVariableName, updateEnvFile } from '../home/env-file.ts'
import type { HomeFiles } from '../home/file-lock.ts'
import { createPrivateFile, writePrivateFile } from '../home/private-file.ts'
import type { HomeLayout } from '../protocol/home.ts'
import type { ProviderRegistry } from '../providers/registry.ts'
import { type CheckContext, checkProfile, listWarnings, type ProfileCheck } from './check-profile.ts'
import type { ProfileDownload } from './download-profile.ts'
import { parseProfile } from './parse-profile.ts'
import { decodeProfile, type ProfileFiles } from './profile-files.ts'

export type InstallOptions = {
  /** Written into the profile; undefined: as it says itself. */
  readonly provider?: string
  /** Kept among the variables of the home before the profile is read. */
  readonly env?: Readonly<Record<string, string>>
  /** Replaces a profile of the same name. */
  readonly isForced?: boolean
}

export type InstalledProfile = {
  readonly name: string
  readonly file: string
  readonly sourceKind: 'url' | 'file' | 'name'
  readonly provider: string | undefined
  /** Undefined: no limit. */
  readonly allowedTools: ToolList
  readonly unresolvedVariables: readonly string[]
  /** What of it nobody serves, and what is odd. */
  readonly notes: readonly string[]
}

type Source = {
  readonly kind: InstalledProfile['sourceKind']
  readonly name: string | undefined
  readonly text: string
  /** Where it lies already. */
  readonly file?: string
}

export type LibraryParts = HomeFiles & {
  readonly layout: Pick<HomeLayout, 'agentStoreDir'>
  readonly profiles: ProfileFiles
  readonly providers: Pick<ProviderRegistry, 'names' | 'get'>
  readonly download: ProfileDownload
}

export class ProfileLibrary {
  readonly #parts: LibraryParts

  constructor(parts: LibraryParts) {
    this.#parts = parts
  }

  /** Errors: none. */
  async check(text: string): Promise<ProfileCheck> {
    return checkProfile(text, await this.#context())
  }

  /** `source`: a name that is known already, or an address. Errors: BAD_REQUEST, PROFILE_UNKNOWN, PROFILE_INVALID, PROVIDER_UNKNOWN, NAME_TAKEN. */
  async install(source: string, options: InstallOptions, waiting: Waiting): Promise<InstalledProfile> {
    this.#requireProvider(options.provider)
    return this.#keep(await this.#fetch(source, waiting), options)
  }

  /** `name`: as the file is to be called; undefined: as the profile says. Errors: as `install`. */
  save(text: string, name: string | undefined, options: InstallOptions): Promise<InstalledProfile> {
    this.#requireProvider(options.provider)
    if (name !== undefined && !profileNamePattern.test(name)) {
      throw new AppError('BAD_REQUEST', 'the name of a profile has letters, digits, "_" and "-", at most 64')
    }
    decodeProfile(Buffer.from(text), name === undefined ? 'the profile' : `${name}.md`)
    return this.#keep({ kind: 'file', name, text }, options)
  }

  /** Errors: NOT_FOUND when the store of this CAO has none of that name. */
  async remove(name: string): Promise<{ readonly file: string }> {
    const file = this.#fileOf(name)
    try {
      await unlink(file)
      return { file }
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code !== 'ENOENT') throw new AppError('BAD_REQUEST', `${file} can not be removed (${code})`, { cause })
      const other = await this.#parts.profiles.find(name).catch(() => undefined)
      const why = other === undefined ? '' : `: ${name} lies in ${other.file}, which is not of this store`
      throw new AppError('NOT_FOUND', `there is no ${file}${why}`, { cause })
    }
  }

  async #fetch(source: string, waiting: Waiting): Promise<Source> {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source))
      return { kind: 'url', ...(await this.#parts.download(source, waiting)) }
    if (!profileNamePattern.test(source)) {
      throw new AppError(
        'BAD_REQUEST',
        `${JSON.stringify(source)} is neither the name of a profile nor an https address`,
      )
    }
    const { text, file } = await this.#parts.profiles.find(source)
    return { kind: 'name', name: source, text, file }
  }

  async #keep(source: Source, options: InstallOptions): Promise<InstalledProfile> {
    const { provider, env = {}, isForced = false } = options
    const text = provider === undefined ? source.text : replaceProvider(source.text, provider)
    requireVariableNames(env)
    const rules = await this.#parts.profiles.rules()
    const withEnv = { ...rules, variables: { ...rules.variables, ...env } }
    const place = source.name === undefined ? 'given' : `${source.name}.md`
    const profile = parseProfile({ name: source.name, text, file: place, source: '' }, withEnv)
    const file = this.#fileOf(profile.name)
    if (provider !== undefined && profile.provider !== provider) {
      throw new AppError('PROFILE_INVALID', `the provider of ${profile.name} can not be replaced: change its text`)
    }
    // A name that is in this store already is as it should be.
    const isNew = source.file !== file || provider !== undefined
    const write = async () => (isNew ? this.#write(file, text, isForced) : undefined)
    if (Object.keys(env).length === 0) await write()
    else await updateEnvFile(this.#parts, (kept) => ({ ...kept, ...env }), write)
    return {
      name: profile.name,
      file,
      sourceKind: source.kind,
      provider: profile.provider,
      allowedTools: resolveTools(profile, undefined, undefined),
      unresolvedVariables: profile.unresolvedVariables,
      notes: listWarnings(profile, await this.#context(withEnv)).map(({ message }) => message),
    }
  }

  async #write(file: string, text: string, isForced: boolean): Promise<void> {
    if (isForced) return writePrivateFile(file, text)
    if ((await createPrivateFile(file, text)) === 'created') return
    throw new AppError('NAME_TAKEN', `${file} is there already; --force replaces it`)
  }

  #fileOf(name: string): string {
    if (!profileNamePattern.test(name)) throw new AppError('NOT_FOUND', 'that is no name of a profile')
    return join(this.#parts.layout.agentStoreDir, `${name}.md`)
  }

  #requireProvider(name: string | undefined): void {
    const { providers } = this.#parts
    if (name === undefined || providers.get(name) !== undefined) return
    const sentence = `no provider is called ${JSON.stringify(name)}; choose one of: ${providers.names.join(', ')}`
    throw new AppError('PROVIDER_UNKNOWN', sentence)
  }

  async #context(rules?: CheckContext['rules']): Promise<CheckContext> {
    return { rules: rules ?? (await this.#parts.profiles.rules()), providers: this.#parts.providers.names }
  }
}

function requireVariableNames(env: Readonly<Record<string, string>>): void {
  const odd = Object.keys(env).find((name) => !isVariableName(name))
  if (odd !== undefined) throw new AppError('BAD_REQUEST', `${JSON.stringify(odd)} is no name of a variable`)
}

/** The text with this provider in its front matter. The name is a plain word; whoever calls reads the result again. */
function replaceProvider(text: string, provider: string): string {
  const [first = '', ...lines] = text.split('\n')
  const end = lines.findIndex((line) => line.trimEnd() === '---')
  const others = lines.filter((line, index) => index >= end || !/^provider\s*:/.test(line))
  return [first, `provider: ${provider}`, ...others].join('\n')
}

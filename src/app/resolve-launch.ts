/**
 * Everything about a launch that can be wrong, checked before anything is made: profile, provider, program,
 * directory, tools. Each fault is one sentence that says what to do.
 */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { findUnserved, type Profile } from '../domain/profile.ts'
import { limitServers, resolveTeamTools, resolveTools } from '../domain/resolve-tools.ts'
import type { Provider } from '../providers/provider.ts'
import { checkExtraEnv, selectClientEnv, selectKeptEnv } from './agent-env.ts'
import type { CreateTerminal } from './app.ts'
import type { AppContext } from './context.ts'

export type ResolvedLaunch = {
  readonly profile: Profile
  readonly provider: Provider
  readonly program: string
  readonly cwd: string
  /** Undefined: no limit. */
  readonly allowedTools: readonly string[] | undefined
  /** What agents that it launches may have at most. */
  readonly teamTools: readonly string[] | undefined
  /** What the profile or its limits ask for and nobody does; said at launch with what the provider can not enforce. */
  readonly notes: readonly string[]
  readonly clientEnv: Readonly<Record<string, string>>
  readonly extraEnv: Readonly<Record<string, string>>
}

export async function resolveLaunch(context: AppContext, request: CreateTerminal): Promise<ResolvedLaunch> {
  const profile = await context.profiles.load(request.profileName)
  const extraEnv = checkExtraEnv(request.env ?? {})
  const { variables } = await context.profiles.rules()
  const clientEnv = { ...selectClientEnv(request.clientEnv ?? context.serverEnv), ...selectKeptEnv(variables) }
  const { provider, program } = await resolveProvider(context, request, profile, clientEnv)
  const cwd = await resolveDirectory(context, request, clientEnv)
  const caller = request.callerId === undefined ? undefined : context.store.terminals.find(request.callerId)
  const allowedTools = resolveTools(profile, request.allowedTools, caller?.teamTools)
  const teamTools = resolveTeamTools(profile, request.allowedTools, caller?.teamTools)
  const { mcpServers, notes } = limitServers(profile, allowedTools)
  return {
    profile: { ...profile, mcpServers },
    provider,
    program,
    cwd,
    allowedTools,
    teamTools,
    notes: [...notes, ...findUnserved(profile, provider.name)],
    clientEnv,
    extraEnv,
  }
}

/** Order: asked for, profile's, caller's, the option's, the first installed one. */
async function resolveProvider(
  context: AppContext,
  request: CreateTerminal,
  profile: Profile,
  clientEnv: Readonly<Record<string, string>>,
): Promise<{ readonly provider: Provider; readonly program: string }> {
  const caller = request.callerId === undefined ? undefined : context.store.terminals.find(request.callerId)
  const name = request.provider ?? profile.provider ?? caller?.provider ?? context.launchDefaults.provider
  if (name === undefined) {
    for (const provider of context.providers.all) {
      const found = await provider.findProgram(clientEnv)
      if (found.kind === 'found') return { provider, program: found.path }
    }
    throw new AppError(
      'PROGRAM_MISSING',
      `none of the agent CLIs is installed: ${context.providers.names.join(', ')}; install one`,
    )
  }
  const provider = context.providers.get(name)
  if (provider === undefined) {
    const names = context.providers.names.join(', ')
    throw new AppError('PROVIDER_UNKNOWN', `no provider is called ${JSON.stringify(name)}; choose one of: ${names}`)
  }
  const found = await provider.findProgram(clientEnv)
  if (found.kind === 'missing')
    throw new AppError('PROGRAM_MISSING', `${provider.title} is not installed: ${found.hint}`)
  return { provider, program: found.path }
}

/** What was asked for, else the caller's, else the client's home: the server's own folder is no place to work in. */
async function resolveDirectory(
  context: AppContext,
  request: CreateTerminal,
  clientEnv: Readonly<Record<string, string>>,
): Promise<string> {
  const caller = request.callerId === undefined ? undefined : context.store.terminals.find(request.callerId)
  const asked = request.workingDirectory ?? caller?.workingDirectory ?? clientEnv['HOME'] ?? homedir()
  const cwd = isAbsolute(asked) ? asked : resolve(asked)
  const found = await stat(cwd).catch(() => undefined)
  if (found?.isDirectory() !== true) {
    throw new AppError(
      'DIRECTORY_MISSING',
      `the working directory ${cwd} does not exist or is no directory; create it or name another`,
    )
  }
  return cwd
}

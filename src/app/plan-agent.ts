/**
 * What an agent is started with: its directories, its identity, and the provider's plan (argv, environment, generated
 * settings). The same for a first launch and for taking a conversation up again.
 */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { AppError } from '../domain/errors.ts'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import type { Binding } from '../domain/terminal.ts'
import type { LaunchPlan } from '../providers/provider.ts'
import type { AppContext } from './context.ts'
import type { ResolvedLaunch } from './resolve-launch.ts'
import { addCatalogue } from './skill-catalogue.ts'
import { createTerminalDirs, type TerminalDirs, terminalDirs } from './terminal-dirs.ts'

export type AgentPlace = {
  readonly id: TerminalId
  readonly dirs: TerminalDirs
  /** How the agent's own tools know who they are. */
  readonly identity: Readonly<Record<string, string>>
}

export type PlannedAgent = { readonly place: AgentPlace; readonly plan: LaunchPlan }

/** Makes the directories and the capability of `id`. The caller undoes both. */
export async function preparePlace(context: AppContext, id: TerminalId, sessionName: SessionName): Promise<AgentPlace> {
  const dirs = terminalDirs(context.layout, id)
  await createTerminalDirs(dirs)
  await rm(dirs.toolsFile, { force: true })
  const capabilityFile = await context.capabilities.issue(dirs.dir, id, context.random)
  const identity = identityEnv(context, id, sessionName, capabilityFile)
  return { id, dirs, identity: { ...identity, CAO_TOOLS_FILE: dirs.toolsFile } }
}

function identityEnv(
  context: AppContext,
  id: TerminalId,
  sessionName: SessionName,
  capabilityFile: string,
): Record<string, string> {
  return {
    CAO_TERMINAL_ID: id,
    CAO_SESSION_NAME: sessionName,
    CAO_CAPABILITY_FILE: capabilityFile,
    CAO_SOCKET: context.socketPath,
    CAO_OUTBOX: context.layout.outboxDir,
  }
}

export type PlanOptions = {
  readonly resolved: ResolvedLaunch
  readonly model: string | undefined
  /** Binding of the former life, to take its conversation up again. */
  readonly resume: Binding | undefined
}

/** Asks the provider. Errors: VALIDATION for a profile that it can not serve. */
export async function planAgent(context: AppContext, place: AgentPlace, options: PlanOptions): Promise<LaunchPlan> {
  const { resolved, model, resume } = options
  const { provider, profile, allowedTools } = resolved
  const catalogue = { skills: await context.skills.list(), patterns: profile.skills, tools: allowedTools }
  const plan = await provider.planLaunch({
    terminalId: place.id,
    profile,
    systemPrompt: addCatalogue(profile.systemPrompt, catalogue),
    allowedTools,
    model: model ?? profile.model,
    program: resolved.program,
    cwd: resolved.cwd,
    privateDir: place.dirs.privateDir,
    spoolDir: place.dirs.spoolDir,
    hookArgv: [...context.shims.hookArgv, place.dirs.spoolDir],
    mcp: { argv: context.shims.mcpArgv, env: place.identity },
    // What a person asked for by name goes before what their shell happened to hold.
    clientEnv: { ...resolved.clientEnv, ...resolved.extraEnv },
    port: provider.capabilities.has('needs-port') ? await findFreePort() : undefined,
    randomHex: context.random,
    resume,
  })
  return { ...plan, limitsNotEnforced: [...plan.limitsNotEnforced, ...resolved.notes] }
}

export async function writePlannedFiles(plan: LaunchPlan): Promise<void> {
  for (const { path, target, isFolder } of plan.links ?? []) {
    if (isFolder === true) await mkdir(target, { recursive: true, mode: 0o700 })
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rm(path, { recursive: true, force: true })
    await symlink(target, path)
  }
  for (const file of plan.files) {
    await mkdir(dirname(file.path), { recursive: true, mode: 0o700 })
    await writeFile(file.path, file.content, { mode: 0o600 })
  }
}

/** A port that was free a moment ago. The agent binds it soon after; a clash shows as a failed launch. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new AppError('INTERNAL', 'no loopback port is free'))
        else resolve(address.port)
      })
    })
  })
}

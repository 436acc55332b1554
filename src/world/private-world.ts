/**
 * A CAO of its own that touches nothing of the person's: home, HOME, temp folder, server and tmux all lie in one new
 * folder under the temp directory. Whoever opens it ends it; ending proves that no process is left.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { ensureServer } from '../cli/ensure-server.ts'
import { type Client, createClient } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { type HomeLayout, layoutOf } from '../protocol/home.ts'
import { findProcesses } from './find-processes.ts'

/** From the last order to the end of the last process. Units: ms. */
const endLimitMs = 8_000
const pollMs = 50

/** What of our environment the private world gets: how to run programs and reach the network, nothing about who we are. */
const inherited =
  /^(PATH|LANG|LC_.*|TERM|TZ|USER|LOGNAME|SHELL|NODE_EXTRA_CA_CERTS|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy)$/

export type WorldOptions = {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** argv of the server program. */
  readonly server: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export type PrivateWorld = {
  /** Everything lies in here. */
  readonly folder: string
  readonly layout: HomeLayout
  /** Where the agents work. */
  readonly projectDir: string
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
}

/** `name` stands in the folder's name, so that a person knows whose it is. */
export async function createWorld({
  clock,
  env,
  name = 'demo',
}: Pick<WorldOptions, 'clock' | 'env'> & { readonly name?: string }): Promise<PrivateWorld> {
  const folder = await mkdtemp(join(tmpdir(), `cao-${name}-`))
  const [userHome, temp, projectDir] = ['home', 'tmp', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const dir of [userHome, temp, projectDir]) await mkdir(dir, { mode: 0o700 })
  const layout = layoutOf(join(folder, 'cao'))
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && inherited.test(name))
  return {
    folder,
    layout,
    projectDir,
    clock,
    env: {
      ...(Object.fromEntries(kept) as Record<string, string>),
      HOME: userHome,
      TMPDIR: temp,
      CAO_HOME: layout.home,
      CAO_API_PORT: 'none',
    },
  }
}

/** Starts the server of the world. Errors: SERVER_UNREACHABLE. */
export async function startWorld(world: PrivateWorld, options: WorldOptions): Promise<Client> {
  const { layout, env, clock } = world
  const { file } = await ensureServer({ layout, clock, env, signal: options.signal, program: options.server })
  return createClient({ socketPath: file.socket_path }, { clock })
}

/** Ends agents, tmux and server; whatever is left after that is ended by force and named. Errors: none of a world that is half gone. */
export async function endWorld(world: PrivateWorld, client: Client | undefined): Promise<readonly string[]> {
  const problems: string[] = []
  if (client !== undefined) {
    try {
      const { errors } = await client.shutdownAll()
      problems.push(...errors.map(({ id, error }) => `${id} did not end: ${error}`))
      const { pid } = await client.health()
      if (pid !== undefined) process.kill(pid, 'SIGTERM')
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(`the team could not be ended in order: ${error.message}`)
    }
  }
  return [...problems, ...(await endLeftovers(world, client === undefined))]
}

async function endLeftovers({ folder, clock }: PrivateWorld, isExpected: boolean): Promise<readonly string[]> {
  const deadlineMs = clock.monotonicMs() + (isExpected ? 0 : endLimitMs)
  let left = await findProcesses(folder)
  while (left.length > 0 && clock.monotonicMs() < deadlineMs) {
    await sleep(clock, pollMs)
    left = await findProcesses(folder)
  }
  for (const { pid } of left) killIfThere(pid)
  return isExpected ? [] : left.map(({ pid, command }) => `process ${pid} was left running: ${command.slice(0, 120)}`)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

export async function removeWorld({ folder }: PrivateWorld): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

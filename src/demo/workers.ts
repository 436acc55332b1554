/**
 * What the demo's workers are. Scripted ones need nothing: they are what their supervisor is. A real CLI needs its program,
 * profiles that name it, and a model server on this machine that obeys the same rules as the scripted agent.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../async/clock.ts'
import { withDeadline } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { PrivateWorld } from '../world/private-world.ts'
import type { RealCli, WorkerProvider } from './demo-options.ts'

const modelStartLimitMs = 10_000
const modelName = 'scripted/scripted'

export type Workers = {
  /** Added to the world's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Ends what was started for them. */
  end(): Promise<void>
  /** Leaves it running without us; returns the commands that end it. */
  leave(): readonly string[]
}

export type WorkerOptions = {
  readonly world: PrivateWorld
  readonly provider: WorkerProvider
  /** The checkout or package that we run from. */
  readonly root: string
  /** Whether they must live on when this process has ended. */
  readonly keep: boolean
  readonly clock: Clock
  readonly tell: (line: string) => void
  /** Installs that CLI unless it is there, and returns the path of its program. Errors: AppError. */
  readonly install: (cli: RealCli) => Promise<string>
}

const nothing: Workers = { env: {}, end: () => Promise.resolve(), leave: () => [] }

/** How one CLI is brought to use the model server, as its person would: in the world's HOME and by its environment. */
type Cli = {
  readonly title: string
  readonly furnish: (world: PrivateWorld, port: number) => Promise<void>
  readonly env: (port: number) => Readonly<Record<string, string>>
}

const clis: Readonly<Record<RealCli, Cli>> = {
  opencode_cli: {
    title: 'OpenCode',
    furnish: configureOpencode,
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
  },
  claude_code: {
    title: 'Claude Code',
    furnish: configureClaude,
    env: (port) => ({ ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_AUTH_TOKEN: 'dummy' }),
  },
}

/** Errors: PROGRAM_MISSING when the CLI can not be installed, LAUNCH_FAILED for the model server. */
export async function prepareWorkers(options: WorkerOptions): Promise<Workers> {
  if (options.provider === 'scripted') return nothing
  const { world, tell } = options
  const cli = clis[options.provider]
  const program = await options.install(options.provider)
  await writeProfiles(options, ['developer', 'reviewer'])
  const { child, port } = await startModel(options)
  await cli.furnish(world, port)
  tell(`the workers are ${cli.title}; its model is a scripted one on 127.0.0.1:${port}, its home is private`)
  return {
    env: { PATH: [dirname(program), world.env['PATH'] ?? ''].join(delimiter), ...cli.env(port) },
    end: () => endChild(child),
    leave() {
      child.unref()
      return [`kill ${child.pid ?? 0}`]
    },
  }
}

/** The built-in profiles, and the one thing that differs: who plays them. */
async function writeProfiles({ root, world, provider }: WorkerOptions, names: readonly string[]): Promise<void> {
  const { agentStoreDir } = world.layout
  await mkdir(agentStoreDir, { recursive: true, mode: 0o700 })
  for (const name of names) {
    const text = await readFile(join(root, 'profiles', `${name}.md`), 'utf8')
    await writeFile(join(agentStoreDir, `${name}.md`), text.replace('---\n', `---\nprovider: ${provider}\n`), {
      mode: 0o600,
    })
  }
}

async function configureOpencode({ env }: PrivateWorld, port: number): Promise<void> {
  const dir = join(env['HOME'] ?? '', '.config', 'opencode')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const scripted = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' },
    models: { scripted: { name: 'Scripted', limit: { context: 128_000, output: 8_000 } } },
  }
  const config = {
    autoupdate: false,
    share: 'disabled',
    model: modelName,
    small_model: modelName,
    enabled_providers: ['scripted'],
    provider: { scripted },
  }
  await writeFile(join(dir, 'opencode.json'), JSON.stringify(config, null, 2), { mode: 0o600 })
}

/** A person who has been welcomed, and whose program reports to nobody. */
async function configureClaude({ env }: PrivateWorld): Promise<void> {
  const home = env['HOME'] ?? ''
  await mkdir(join(home, '.claude'), { recursive: true, mode: 0o700 })
  const settings = { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } }
  await writeFile(join(home, '.claude', 'settings.json'), JSON.stringify(settings), { mode: 0o600 })
  await writeFile(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true }), { mode: 0o600 })
}

type Model = { readonly child: ChildProcess; readonly port: number }

async function startModel({ root, world, keep, clock }: WorkerOptions): Promise<Model> {
  const child = spawn(process.execPath, [join(root, 'dist', 'scripted-model.mjs'), ...(keep ? ['--detached'] : [])], {
    env: world.env,
    cwd: world.folder,
    detached: keep,
    stdio: [keep ? 'ignore' : 'pipe', 'pipe', 'ignore'],
  })
  try {
    return { child, port: await withDeadline(clock, readPort(child), modelStartLimitMs, 'the model server to start') }
  } catch (error) {
    await endChild(child)
    throw error
  }
}

function readPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new AppError('LAUNCH_FAILED', `the model server did not start: ${why}`))
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`it ended with code ${code ?? '?'}`))
    if (child.stdout === null) return fail('it has no output')
    const lines = createInterface({ input: child.stdout })
    lines.once('line', (line) => {
      lines.close()
      child.stdout?.destroy()
      const port = /"port":(\d+)/.exec(line)?.[1]
      if (port === undefined) fail(`it said ${line.slice(0, 80)}`)
      else resolve(Number(port))
    })
  })
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

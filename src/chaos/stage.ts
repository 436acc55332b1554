/**
 * The CAO under test and its surroundings: the private world, the server process that comes and goes, the tmux server
 * and the ways to reach both. Everything that the run does to CAO goes through here or through `faults.ts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { parseServerFile } from '../protocol/home.ts'
import { type PrivateWorld, startWorld } from '../world/private-world.ts'
import { runProgram } from './processes.ts'

const tmuxLimitMs = 5_000
const startTriesMax = 5
const retryGapMs = 500
const healthLimitMs = 10_000

export type StageParts = {
  readonly world: PrivateWorld
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** argv of the server program. */
  readonly server: readonly string[]
  readonly say: (line: string) => void
}

export type PaneFacts = {
  readonly paneId: string
  readonly windowId: string
  readonly terminalId: string
  readonly session: string
}

export class Stage {
  readonly parts: StageParts
  #client: Client | undefined
  readonly #pids = new Set<number>()

  constructor(parts: StageParts) {
    this.parts = parts
  }

  /** Server processes so far. */
  get startCount(): number {
    return this.#pids.size
  }

  get clock(): Clock {
    return this.parts.clock
  }

  /** Calls wait on the socket's path; it stays the same over all lives of the server. */
  get client(): Client {
    if (this.#client === undefined) throw new AppError('INTERNAL', 'the server was not started yet')
    return this.#client
  }

  /** As any command of a person does: finds the server or starts one. Errors: SERVER_UNREACHABLE after some tries. */
  async ensureServer(): Promise<void> {
    const { world, clock, signal, env, server, say } = this.parts
    for (let tries = 1; ; tries++) {
      try {
        const client = await startWorld(world, { clock, signal, env, server })
        // A process that is just being killed may still have accepted the connection.
        await client.health({ signal, timeoutMs: healthLimitMs })
        this.#client ??= client
        break
      } catch (error) {
        if (!(error instanceof AppError) || tries >= startTriesMax) throw error
        say(`  server start ${tries} failed: ${error.message}`)
        await sleep(clock, retryGapMs, signal)
      }
    }
    if (this.serverPid !== undefined) this.#pids.add(this.serverPid)
  }

  #serverFile() {
    return parseServerFile(readIfThere(this.parts.world.layout.serverFile))
  }

  /** Of the server that wrote its file last, living or not. */
  get serverPid(): number | undefined {
    return this.#serverFile()?.pid
  }

  get tmuxSocket(): string {
    return join(this.parts.world.layout.runDir, 'tmux.sock')
  }

  /** Of the tmux server, from the backend's note of it. */
  get tmuxPid(): number | undefined {
    const text = readIfThere(join(this.parts.world.layout.home, 'tmux-server.json'))
    if (text === '') return undefined
    const value: unknown = JSON.parse(text)
    const pid = typeof value === 'object' && value !== null && 'pid' in value ? value.pid : undefined
    return typeof pid === 'number' ? pid : undefined
  }

  agentPid(terminalId: string): number | undefined {
    const text = readIfThere(join(this.parts.world.layout.terminalsDir, terminalId, 'pid'))
    return /^\d+\n$/.test(text) ? Number(text) : undefined
  }

  /** One tmux command as a person would give it. Errors: INTERNAL with tmux's words. */
  tmux(...args: readonly string[]): Promise<string> {
    return runProgram('tmux', ['-u', '-S', this.tmuxSocket, ...args], {
      env: this.parts.world.env,
      limitMs: tmuxLimitMs,
    })
  }

  async listPanes(): Promise<readonly PaneFacts[]> {
    const out = await this.tmux(
      'list-panes',
      '-a',
      '-F',
      '#{pane_id} #{window_id} #{?@cao_terminal_id,#{@cao_terminal_id},-} #{session_name}',
    )
    return out.split('\n').flatMap((line) => {
      const [paneId = '', windowId = '', tag = '', session = ''] = line.split(' ')
      return paneId === '' ? [] : [{ paneId, windowId, terminalId: tag === '-' ? '' : tag, session }]
    })
  }
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

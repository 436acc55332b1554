/** What the tests of incidents share: agents that count, a person at a terminal of their own, and facts about processes. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readIfThere, type TestWorld, until } from './world.case.ts'

/** An agent that writes a few words every second for ten minutes: what stops it, or any part of its way, shows. */
export class Bystander {
  readonly id: string
  readonly session: string
  readonly #world: TestWorld
  readonly #pid: number
  readonly #startedAt: string

  private constructor(world: TestWorld, id: string, session: string) {
    this.#world = world
    this.id = id
    this.session = session
    this.#pid = agentPid(world, id) ?? 0
    this.#startedAt = processStart(this.#pid) ?? ''
  }

  static async start(world: TestWorld, session: string): Promise<Bystander> {
    const id = await world.agent({ session })
    await world.client.sendInput(id, { message: 'slow 600' })
    await world.waitForStatus(id, 'processing')
    return new Bystander(world, id, `cao-${session}`)
  }

  get counted(): number {
    return logLength(this.#world, this.id)
  }

  /** Still the same process, and what it writes still reaches the log. */
  async expectCounting(limitMs = 15_000): Promise<void> {
    expect(processStart(this.#pid), `process of bystander ${this.id}`).toBe(this.#startedAt)
    const before = this.counted
    await until(`bystander ${this.id} to count on`, limitMs, () => (this.counted > before ? true : undefined))
  }

  /** Ends its turn: what it wrote has no hole. */
  async expectUnbroken(): Promise<void> {
    const { client } = this.#world
    await this.expectCounting()
    await client.pressKey(this.id, 'Escape')
    const text = await until(`${this.id} to stop`, 15_000, () => {
      const line = this.#world.transcript(this.id).find((each) => each['type'] === 'interrupted')
      return line === undefined ? undefined : String(line['text'])
    })
    const words = text.split(/\s+/).filter((word) => word !== '')
    expect(words.length).toBeGreaterThan(4)
    expect(words).toEqual(words.map((_, index) => words[index % 18]))
    expect(new Set(words.slice(0, 18)).size).toBe(Math.min(words.length, 18))
  }
}

export function startBystanders(world: TestWorld, count: number, prefix = 'by'): Promise<Bystander[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => Bystander.start(world, `${prefix}${index}`)))
}

export async function expectAllCounting(bystanders: readonly Bystander[]): Promise<void> {
  await Promise.all(bystanders.map((each) => each.expectCounting()))
}

export function agentPid(world: TestWorld, id: string): number | undefined {
  const text = readIfThere(join(world.world.layout.terminalsDir, id, 'pid')).trim()
  return text === '' ? undefined : Number(text)
}

export function logLength(world: TestWorld, id: string): number {
  return statSync(join(world.world.layout.terminalsDir, id, 'output.log'), { throwIfNoEntry: false })?.size ?? 0
}

/** Start time and parent of a living process; undefined when it has ended. Source: proc_pid_stat(5). */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields
  } catch {
    return undefined
  }
}
export const processStart = (pid: number): string | undefined => statOf(pid)?.[19]
export const parentOf = (pid: number): number => Number(statOf(pid)?.[1])
export const stateOf = (pid: number): string | undefined => statOf(pid)?.[0]

export async function untilEnded(pid: number, limitMs = 10_000): Promise<void> {
  await until(`process ${pid} to end`, limitMs, () => (processStart(pid) === undefined ? true : undefined))
}

/** Living processes whose command line holds `words`. */
export function findByCommand(words: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(words)
      } catch {
        return false
      }
    })
}

export const tmuxPid = (world: TestWorld): number => Number(world.tmux('display-message', '-p', '#{pid}'))

/** Process of the control client of our server. */
export const controlClient = (world: TestWorld): number =>
  Number(
    world
      .tmux('list-clients', '-F', '#{client_control_mode} #{client_pid}')
      .split('\n')
      .find((line) => line.startsWith('1 '))
      ?.slice(2),
  )
export const exitEmpty = (world: TestWorld): string => world.tmux('show-options', '-sv', 'exit-empty').trim()
export const lifeOf = async (world: TestWorld, id: string) => (await world.client.getTerminal(id)).life

/** Pane facts by terminal id, as tmux has them. */
export function paneField(world: TestWorld, id: string, format: string): string {
  const lines = world.tmux('list-panes', '-a', '-F', `#{@cao_terminal_id} ${format}`).split('\n')
  const found = lines.find((line) => line.startsWith(`${id} `))
  if (found === undefined) throw new Error(`no pane of ${id}`)
  return found.slice(id.length + 1)
}
export const paneOf = (world: TestWorld, id: string): string => paneField(world, id, '#{pane_id}')

/** A person who is attached to a session from a terminal of their own: a pane of another private tmux. */
export class Person implements Disposable {
  static #count = 0
  readonly #world: TestWorld
  readonly #socket: string

  constructor(world: TestWorld, session: string, size: { readonly cols: number; readonly rows: number }) {
    this.#world = world
    this.#socket = join(world.world.folder, `person-${++Person.#count}`)
    const own = join(world.world.layout.runDir, 'tmux.sock')
    const attach = ['env', '-u', 'TMUX', 'tmux', '-u', '-S', own, 'attach-session', '-t', `=${session}`]
    const at = ['-x', String(size.cols), '-y', String(size.rows)]
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...at, '--', ...attach)
  }

  #tmux(...args: readonly string[]): string {
    const { env } = this.#world.world
    return execFileSync('tmux', ['-u', '-S', this.#socket, ...args], { env, encoding: 'utf8' })
  }

  /** What the person sees. */
  get screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  sees(words: string): Promise<true> {
    return until(`the person to see ${words}`, 10_000, () => (this.screen.includes(words) ? true : undefined))
  }

  /** Presses keys of the person's keyboard, by their tmux names. */
  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', '--', ...keys)
  }

  [Symbol.dispose](): void {
    this.#tmux('kill-server')
  }
}

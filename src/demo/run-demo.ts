/**
 * The demo from its first line to `demo: ok`: opens a private world, gives the supervisor its message, tells what
 * happens, checks that it was right, and takes everything down again.
 */
import type { Clock } from '../async/clock.ts'
import { SignalLatch } from '../async/signal-latch.ts'
import { cleanLine, cleanText } from '../cli/clean-text.ts'
import { formatCommandLine } from '../cli/print.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { EventBody } from '../protocol/event.ts'
import type { TerminalBody } from '../protocol/terminal.ts'
import { createWorld, endWorld, type PrivateWorld, removeWorld, startWorld } from '../world/private-world.ts'
import type { DemoOptions, RealCli } from './demo-options.ts'
import { Narrator } from './narrator.ts'
import { TeamRecord } from './team-record.ts'
import { createTeamScript, type TeamScript } from './team-script.ts'
import { prepareWorkers, type Workers } from './workers.ts'

/** From the supervisor's message to its last answer. Units: ms. */
const teamLimitMs = { scripted: 60_000, opencode_cli: 240_000, claude_code: 240_000 } as const
const sessionName = 'demo'

export type DemoParts = {
  readonly options: DemoOptions
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** The checkout or package that we run from. */
  readonly root: string
  readonly say: (line: string) => void
  /** Installs that CLI unless it is there, says so by `tell`, and returns the path of its program. Errors: AppError. */
  readonly install: (cli: RealCli, tell: (line: string) => void, signal: AbortSignal) => Promise<string>
}

/** The exit code. Errors: none of the demo's own; each is told as `demo: failed: …`. */
export async function runDemo(parts: DemoParts): Promise<number> {
  const { clock, say } = parts
  const startedAtMs = clock.monotonicMs()
  const world = await createWorld(parts)
  const tell = (line: string) =>
    say(`${((clock.monotonicMs() - startedAtMs) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const stage = new Stage(parts, world, tell)
  let failure: string | undefined
  try {
    await stage.play()
  } catch (error) {
    failure = parts.signal.aborted ? 'interrupted' : sentenceOf(error)
  }
  if (parts.options.keep && !parts.signal.aborted) {
    sayHowToGoOn(parts, world, { supervisorId: stage.supervisorId, commands: await stage.leave() })
    say(failure === undefined ? 'demo: ok' : `demo: failed: ${failure}`)
    return failure === undefined ? 0 : 1
  }
  const problems = await stage.end().catch((error: unknown) => [sentenceOf(error)])
  failure ??= problems[0]
  if (failure === undefined) {
    await removeWorld(world)
    tell('the team, its tmux and its server have ended; no process and no file is left')
    say('demo: ok')
    return 0
  }
  for (const problem of problems) say(`also: ${problem}`)
  say(
    `The logs are kept: ${world.layout.serverLog} and ${world.layout.terminalsDir}; remove ${world.folder} when you have looked.`,
  )
  say(`demo: failed: ${failure}`)
  return parts.signal.aborted ? 130 : 1
}

function sentenceOf(error: unknown): string {
  // One line: it is the demo's last. An agent's screen may follow the first.
  if (error instanceof AppError) return cleanLine(error.message.split('\n')[0] ?? '')
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** What is running during the demo. Owns: `end` it once. */
class Stage {
  readonly #parts: DemoParts
  readonly #world: PrivateWorld
  readonly #tell: (line: string) => void
  readonly #watching = new AbortController()
  #client: Client | undefined
  #workers: Workers | undefined
  #following: Promise<void> | undefined
  supervisorId: string | undefined

  constructor(parts: DemoParts, world: PrivateWorld, tell: (line: string) => void) {
    this.#parts = parts
    this.#world = world
    this.#tell = tell
  }

  /** Errors: whatever keeps the demo from being right, as a sentence. */
  async play(): Promise<void> {
    const { options, root, signal, clock, env } = this.#parts
    this.#tell(`a home of its own: ${this.#world.folder}`)
    this.#workers = await prepareWorkers({
      world: this.#world,
      provider: options.provider,
      root,
      keep: options.keep,
      clock,
      tell: this.#tell,
      install: (cli) => this.#parts.install(cli, this.#tell, signal),
    })
    const world: PrivateWorld = { ...this.#world, env: { ...this.#world.env, ...this.#workers.env } }
    const client = await startWorld(world, { clock, signal, env, server: [`${root}/bin/cao-server`] })
    this.#client = client
    const { pid } = await client.health({ signal })
    this.#tell(`the server is up (pid ${pid ?? '?'})`)
    const script = createTeamScript()
    const audience = new Audience(client, { script, tell: this.#tell })
    this.#following = audience.follow(this.#watching.signal)
    const supervisor = await this.#startSupervisor(client)
    await this.#playTeam(client, audience, { script, supervisor })
  }

  async #startSupervisor(client: Client): Promise<TerminalBody> {
    const supervisor = await client.createSession(
      {
        agent_profile: 'code_supervisor',
        provider: 'scripted',
        session_name: sessionName,
        working_directory: this.#world.projectDir,
        client_env: this.#world.env,
      },
      { signal: this.#parts.signal },
    )
    this.supervisorId = supervisor.id
    return supervisor
  }

  async #playTeam(
    client: Client,
    audience: Audience,
    { script, supervisor }: { readonly script: TeamScript; readonly supervisor: TerminalBody },
  ): Promise<void> {
    const { clock, options, signal } = this.#parts
    this.#tell(`you ask the supervisor: ${script.message.split('\n')[0]}`)
    await client.sendInput(supervisor.id, { message: script.message, sender_id: 'user' }, { signal })
    await audience.waitUntilDone(clock, teamLimitMs[options.provider], signal)
    const { output, source } = await client.readOutput(supervisor.id, 'last', { signal })
    this.#tell(`the supervisor's answer, read from its ${source}:`)
    for (const line of cleanText(output).trimEnd().split('\n')) this.#parts.say(`         | ${line}`.trimEnd())
    const problems = audience.record.problems(output)
    if (problems.length > 0) throw new AppError('WORKER_FAILED', problems.join('; '))
    this.#tell(`checked: ${audience.record.messageCount} messages, each typed once and arrived by proof`)
  }

  /** Sentences about what did not end as it should. */
  async end(): Promise<readonly string[]> {
    this.#watching.abort()
    await this.#following?.catch(() => undefined)
    await this.#workers?.end()
    return endWorld(this.#world, this.#client)
  }

  /** Stops telling and leaves everything running; returns commands that end what no command of ours ends. */
  async leave(): Promise<readonly string[]> {
    this.#watching.abort()
    await this.#following?.catch(() => undefined)
    return this.#workers?.leave() ?? []
  }
}

/** Follows the events: tells them, and records them. */
class Audience {
  readonly record: TeamRecord
  readonly #client: Client
  readonly #narrator = new Narrator()
  readonly #tell: (line: string) => void
  readonly #changed = new SignalLatch()
  #failure: unknown

  constructor(
    client: Client,
    { script, tell }: { readonly script: TeamScript; readonly tell: (line: string) => void },
  ) {
    this.#client = client
    this.#tell = tell
    this.record = new TeamRecord(script)
  }

  /** Until `signal` aborts. Errors: none; a broken stream ends the wait below. */
  async follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const frame of this.#client.streamEvents({ after: 0, signal })) {
        if (frame.kind === 'event') await this.#hear(frame.event)
      }
    } catch (error) {
      if (!signal.aborted) this.#failure = error
    }
    this.#changed.raise()
  }

  async #hear(event: EventBody): Promise<void> {
    if (event.type === 'terminal.life_changed' && event.to === 'live') await this.#findPane(event.terminal_id)
    const sentence = this.#narrator.tell(event)
    if (sentence !== undefined) this.#tell(sentence)
    this.record.note(event)
    this.#changed.raise()
  }

  async #findPane(terminalId: string): Promise<void> {
    const { facts } = await this.#client.explain(terminalId)
    this.#narrator.setPane(terminalId, facts['pane']?.split(' ')[0] ?? '?')
  }

  /** Errors: AppError when it can not come to an end any more, or not in time. */
  async waitUntilDone(clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
    const deadlineMs = clock.monotonicMs() + limitMs
    while (!this.record.isDone) {
      if (this.#failure !== undefined) {
        throw new AppError('SERVER_UNREACHABLE', 'the event stream ended', { cause: this.#failure })
      }
      const { fatal } = this.record
      if (fatal !== undefined) throw new AppError('WORKER_FAILED', fatal)
      const leftMs = deadlineMs - clock.monotonicMs()
      if (leftMs <= 0) {
        const missing = this.record.problems('').join('; ')
        throw new AppError('TIMEOUT', `the team was not done after ${limitMs / 1000} s: ${missing}`)
      }
      await this.#changed.wait(clock, leftMs, signal)
      signal.throwIfAborted()
    }
  }
}

type Left = { readonly supervisorId: string | undefined; readonly commands: readonly string[] }

function sayHowToGoOn(
  { root, say }: DemoParts,
  { layout, folder }: PrivateWorld,
  { supervisorId, commands }: Left,
): void {
  const cao = (...words: readonly string[]) =>
    `  CAO_HOME=${formatCommandLine([layout.home])} ${formatCommandLine([`${root}/bin/cao`, ...words])}`
  const target = supervisorId ?? sessionName
  const look = [cao('ls'), cao('attach', target), cao('explain', target), cao('events', '--follow')]
  const end = [
    cao('shutdown', '--all'),
    cao('server', 'stop'),
    ...commands.map((command) => `  ${command}`),
    `  rm -r ${formatCommandLine([folder])}`,
  ]
  say(`The team is still there. To look at it (Ctrl-b d leaves an attached terminal):\n${look.join('\n')}`)
  say(`To end it:\n${end.join('\n')}`)
}

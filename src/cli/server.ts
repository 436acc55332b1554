/** `cao server`: the CAO process itself. Agents live in tmux and go on while it is away. */
import { readFile } from 'node:fs/promises'
import { sleep } from '../async/wait.ts'
import { createClient } from '../client/client.ts'
import { AppError, errorTable } from '../domain/errors.ts'
import type { HealthBody } from '../protocol/health.ts'
import type { ServerFile } from '../protocol/home.ts'
import { cleanLine } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { ensureServer } from './ensure-server.ts'
import { findServer } from './find-server.ts'
import { formatAge } from './format-time.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { prepareHome } from './prepare-home.ts'
import { printJson, printLine } from './print.ts'
import { requirePerson } from './require-person.ts'
import { formatFacts } from './table.ts'

/** From SIGTERM to the end of the process; agents are left alone, so that there is little to do. Units: ms. */
const stopLimitMs = 15_000
const pollMs = 25
/** For a word about what goes on; a server that is stuck is stopped without. Units: ms. */
const healthLimitMs = 2_000

export const serverCommand: Command = {
  usage: `cao server run|start|stop|status [--json]

  run     run the server in this terminal until Ctrl-C
  start   start it in the background, if none runs
  stop    end it; agents go on and are found again at the next start
  status  say whether it runs (exit code ${errorTable.SERVER_UNREACHABLE.exitCode} when it does not)`,
  options: {},
  async run({ options, positionals, context }) {
    const { ACTION: action = '' } = takePositionals(positionals, ['ACTION'])
    const isJson = flagOption(options, 'json')
    switch (action) {
      case 'run':
        await prepareHome(context.layout)
        return context.runProgram(context.programs.server)
      case 'start':
        return start(context, isJson)
      case 'stop':
        return stop(context, isJson)
      case 'status':
        return showStatus(context, isJson)
      default:
        throw new AppError('BAD_REQUEST', `"${action}" is none of run, start, stop, status`)
    }
  },
}

async function start(context: CliContext, isJson: boolean): Promise<number> {
  const { clock, env, layout, programs, signal } = context
  const { file, isNew } = await ensureServer({ clock, env, layout, signal, program: programs.server })
  if (isJson) await printJson(context, { ...file, is_new: isNew })
  else
    await printLine(
      context,
      `the server ${isNew ? 'was started' : 'runs already'} (pid ${file.pid}, home ${layout.home})`,
    )
  const strangers = isNew ? await findStrangers(context, file) : 0
  if (strangers > 0) context.note(`Note: ${describeStrangers(strangers)}`)
  return 0
}

async function showStatus(context: CliContext, isJson: boolean): Promise<number> {
  const found = await findServer(context.layout, context.clock)
  if (found.kind !== 'running') {
    const state = found.kind === 'silent' ? 'does not accept connections' : 'does not run'
    if (isJson) await printJson(context, { running: false, home: context.layout.home, state })
    else await printLine(context, `the server ${state} (home ${context.layout.home})`)
    return errorTable.SERVER_UNREACHABLE.exitCode
  }
  const client = await context.openClient({ mayStart: false })
  const health = await client.health({ signal: context.signal })
  if (isJson) {
    await printJson(context, { running: true, ...found.file, ...health })
    return 0
  }
  const { file } = found
  const age = formatAge(context.clock.nowMs() - Date.parse(health.started_at ?? file.started_at))
  const { backend } = health
  const strangers = countStrangers(health)
  await printLine(
    context,
    formatFacts([
      ['server', `runs for ${age}, pid ${file.pid}, version ${health.version}`],
      ['home', context.layout.home],
      ['socket', file.socket_path],
      ['tcp', file.tcp_port === null ? 'off' : `127.0.0.1:${file.tcp_port}`],
      [
        'backend',
        backend === undefined ? health.terminal_backend : `${backend.name} ${backend.version}, ${backend.state}`,
      ],
      ['agents', String(health.terminals ?? 0)],
      ['last recovery', formatRecovery(health.last_recovery, context.clock.nowMs())],
      ...(strangers === 0 ? [] : [['unknown', describeStrangers(strangers)] as const]),
      ...Object.entries(backend?.details ?? {}).map(([name, value]) => [`  ${name}`, cleanLine(value)] as const),
    ]),
  )
  return 0
}

/** Agents that run and that the database does not know. */
const describeStrangers = (count: number): string =>
  `${count} ${count === 1 ? 'pane' : 'panes'} without a row ("cao doctor" names them, "cao recover --adopt" takes them in)`

function countStrangers({ last_recovery }: HealthBody): number {
  const strangers = last_recovery?.['strangers']
  return Array.isArray(strangers) ? strangers.length : 0
}

/** Said when a server was started: nobody would miss what no list shows. Errors: none of a server that does not answer. */
async function findStrangers({ clock, signal }: CliContext, { socket_path }: ServerFile): Promise<number> {
  try {
    const client = createClient({ socketPath: socket_path }, { clock })
    return countStrangers(await client.health({ signal, timeoutMs: healthLimitMs }))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return 0
  }
}

/** How the server found its agents again when it started. */
function formatRecovery(recovery: Readonly<Record<string, unknown>> | null | undefined, nowMs: number): string {
  if (recovery === null || recovery === undefined) return 'none yet'
  const count = (name: string) => {
    const value = recovery[name]
    return Array.isArray(value) ? value.length : 0
  }
  const { tookMs, at } = recovery
  const parts = [
    `${count('adopted')} agents adopted`,
    `${count('lost')} lost`,
    `${count('exited')} ended meanwhile`,
    `${count('failed')} failed`,
  ]
  const age = typeof at === 'string' ? `, ${formatAge(nowMs - Date.parse(at))} ago` : ''
  return `${parts.join(', ')} in ${String(typeof tookMs === 'number' ? tookMs : '?')} ms${age}`
}

async function stop(context: CliContext, isJson: boolean): Promise<number> {
  requirePerson(context)
  const found = await findServer(context.layout, context.clock)
  const isThere = found.kind !== 'none'
  const rest = found.kind === 'running' ? await describeRest(context, found.file) : agentsGoOn
  if (isThere) await endProcess(context, found.file)
  if (isJson) await printJson(context, { stopped: isThere, pid: isThere ? found.file.pid : null })
  else
    await printLine(
      context,
      isThere ? `the server (pid ${found.file.pid}) has ended; ${rest}` : 'no server was running',
    )
  return 0
}

const agentsGoOn = 'agents that run go on'

/** What goes on without the server, as the server knows it. */
async function describeRest({ clock, signal }: CliContext, { socket_path }: ServerFile): Promise<string> {
  try {
    const client = createClient({ socketPath: socket_path }, { clock })
    const { terminals, backend } = await client.health({ signal, timeoutMs: healthLimitMs })
    // A tmux server that is not ours is not ours to end.
    if (terminals !== 0 || backend?.state !== 'ready' || backend.details['foreign'] !== undefined) return agentsGoOn
    return `no agent runs, and ${backend.name} goes on; "cao shutdown --all" ends it`
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return agentsGoOn
  }
}

async function endProcess({ clock, signal }: CliContext, { pid }: ServerFile): Promise<void> {
  if (!(await isServerProcess(pid))) {
    throw new AppError('CONFLICT', `pid ${pid}, which the server's file names, is another program; nothing was ended`)
  }
  process.kill(pid, 'SIGTERM')
  const deadlineMs = clock.monotonicMs() + stopLimitMs
  // One that has ended and that nobody has reaped yet is still alive to kill(2), but has no command line.
  while (isAlive(pid) && (await isServerProcess(pid))) {
    if (clock.monotonicMs() > deadlineMs) {
      throw new AppError(
        'TIMEOUT',
        `the server (pid ${pid}) has not ended ${stopLimitMs / 1000} s after SIGTERM; "kill -9 ${pid}" ends it, agents go on`,
      )
    }
    await sleep(clock, pollMs, signal)
  }
}

/** A pid from a file may belong to somebody else by now. Where the system does not tell, the accepted connection has to do. */
async function isServerProcess(pid: number): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('cao-server')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return process.platform !== 'linux'
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

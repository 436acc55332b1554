/**
 * The files through which an agent is started and its end is learned, in one private directory
 * per terminal:
 *
 *   launch      script that sets the whole environment and becomes the agent; removes itself
 *   pid         process id of the agent, written just before it becomes the agent
 *   exit        exit code, written by the wrapper when the agent has ended
 *   wrapper     identity of the wrapper process, for a safe clean-up later
 *   output.log  everything that the pane printed, appended by the sink that tmux feeds (log-trim.ts bounds it)
 *
 * The wrapper traps neither HUP nor TERM: it must end with its pane, and then writes no code. The
 * environment goes through a 0600 file because arguments can be read by every local user and
 * tmux would keep `-e` values for later windows of the session.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { TerminalId } from '../../domain/ids.ts'
import type { Exit } from '../../domain/terminal.ts'
import type { ProcessIdentity } from '../../tmux/process-identity.ts'
import { forgetLogStart } from './log-trim.ts'

export type TerminalFiles = {
  readonly dir: string
  readonly launch: string
  readonly pid: string
  readonly exit: string
  readonly wrapper: string
  readonly log: string
  /** TMUX_TMPDIR of the agent, so that its own tmux commands reach no server but one of its own. */
  readonly tmuxTmpdir: string
}

export function terminalFiles(terminalsDir: string, id: TerminalId): TerminalFiles {
  const dir = join(terminalsDir, id)
  const file = (name: string) => join(dir, name)
  return {
    dir,
    launch: file('launch'),
    pid: file('pid'),
    exit: file('exit'),
    wrapper: file('wrapper'),
    log: file('output.log'),
    tmuxTmpdir: file('tmux'),
  }
}

/** Stands in the environment of every process of this terminal, and of no other. */
export const environmentMark = (files: TerminalFiles): string => `TMUX_TMPDIR=${files.tmuxTmpdir}`

// A Ctrl-C goes to the whole foreground group; caught (not ignored) here, it is default again in the agent.
const wrapperScript = [
  'trap : INT QUIT',
  // The shell's own remark on a signal (`Killed`) must not stand among the agent's output; dash keeps
  // it out only around a subshell.
  'exec 3>&2 2>/dev/null',
  '( exec /usr/bin/env -i TERM="$TERM" /bin/sh "$1/launch" 2>&3 3>&- )',
  // The agent keeps the person's umask; the files are ours.
  'code=$?; umask 077',
  `printf '%s\\n' "$code" >"$1/exit.tmp" && /bin/mv "$1/exit.tmp" "$1/exit"`,
  'exit "$code"',
].join('\n')

/** What the pane runs. */
export function wrapperArgv(files: TerminalFiles): readonly string[] {
  return ['/bin/sh', '-c', wrapperScript, 'cao-run', files.dir]
}

/** Keeps reading whatever happens: one descriptor, opened once, survives a full disk with a gap. */
export function sinkCommand(files: TerminalFiles): string {
  return `exec 3>>${shellWord(files.log)} && while ! cat >&3; do sleep 0.2; done`
}

export function shellWord(value: string): string {
  if (value.includes('\0')) throw new AppError('BAD_REQUEST', 'an argument or environment value holds a NUL byte')
  return `'${value.replaceAll("'", String.raw`'\''`)}'`
}

export type LaunchPlan = {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The script that the wrapper runs: environment, pid file, agent. */
export function launchScript(files: TerminalFiles, plan: LaunchPlan): string {
  const env = { PWD: plan.cwd, ...plan.env, TMUX_TMPDIR: files.tmuxTmpdir }
  const exports = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new AppError('BAD_REQUEST', `${JSON.stringify(name)} can not be the name of an environment variable`)
    }
    return `export ${name}=${shellWord(value)}`
  })
  const becomeAgent = [
    `(umask 077; echo $$ >${shellWord(files.pid)})`,
    `/bin/rm -f ${shellWord(files.launch)}`,
    ...exports,
    `exec ${plan.argv.map(shellWord).join(' ')}`,
  ]
  return `${becomeAgent.join('\n')}\n`
}

/**
 * Makes the directory ready for a launch; an older log stays and is continued.
 * Tells whether the directory was made by this call.
 */
export function prepareLaunch(files: TerminalFiles, plan: LaunchPlan): { readonly wasMade: boolean } {
  const script = launchScript(files, plan)
  const wasMade = mkdirSync(files.dir, { recursive: true, mode: 0o700 }) !== undefined
  mkdirSync(files.tmuxTmpdir, { recursive: true, mode: 0o700 })
  for (const stale of [files.pid, files.exit, files.wrapper, files.launch]) rmSync(stale, { force: true })
  ensureLog(files)
  writeFileSync(files.launch, script, { mode: 0o600 })
  return { wasMade }
}

/** The log is made here with its mode; the sink only appends. */
export function ensureLog(files: TerminalFiles): void {
  if (!existsSync(files.log)) forgetLogStart(files.log)
  closeSync(openSync(files.log, 'a', 0o600))
  chmodSync(files.log, 0o600)
}

/** Removes what a failed launch made; an older log of the terminal stays. */
export function discardLaunch(files: TerminalFiles, wasMade: boolean): void {
  if (wasMade) rmSync(files.dir, { recursive: true, force: true })
  else for (const path of [files.launch, files.pid, files.exit, files.wrapper]) rmSync(path, { force: true })
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** How the agent ended, from the wrapper's file; undefined while there is none. A shell reports signal n as 128 + n. */
export function readExit(files: TerminalFiles): Exit | undefined {
  const text = readIfThere(files.exit)
  if (text === undefined || !/^\d{1,3}\n$/.test(text)) return undefined
  const code = Number(text)
  return { code, signal: code > 128 ? signalNames.get(code - 128) : undefined, atMs: statSync(files.exit).mtimeMs }
}

/** The agent's process id; undefined before the file is whole. */
export function readAgentPid(files: TerminalFiles): number | undefined {
  const text = readIfThere(files.pid)
  return text !== undefined && /^\d+\n$/.test(text) ? Number(text) : undefined
}

export function writeWrapper(files: TerminalFiles, identity: ProcessIdentity): void {
  writeFileSync(files.wrapper, `${identity.pid} ${identity.startedAt}\n`, { mode: 0o600 })
}

export function readWrapper(files: TerminalFiles): ProcessIdentity | undefined {
  const match = /^(\d+) (.+)\n$/.exec(readIfThere(files.wrapper) ?? '')
  return match === null ? undefined : { pid: Number(match[1]), startedAt: match[2] ?? '' }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

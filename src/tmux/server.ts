/**
 * The private tmux server: started, found again, repaired and stopped.
 *
 * It is started in ONE sequence whose first effect is `exit-empty off`, so no moment exists in
 * which it could end by itself, with a scrubbed environment and outside our process group and,
 * where systemd is there, our cgroup. Any number of concurrent starts give one server: tmux locks
 * beside its socket, the keeper session exists once, the first writer names the instance.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { addressArgs, existingServerArgs, type ServerAddress } from './address.ts'
import { classifyClientError } from './client-error.ts'
import { ensureGuestKeeper, isForeignServer } from './foreign.ts'
import { instanceOption, type Liveness, probeLiveness, type ServerFacts } from './liveness.ts'
import { type ProcessIdentity, readProcessIdentity, signalProcess } from './process-identity.ts'
import { quote } from './quote.ts'
import { type ProgramResult, runProgram } from './run-program.ts'
import {
  configurationText,
  essentialOptions,
  guardedBindings,
  serverOptions,
  setOptionCommand,
} from './server-options.ts'
import { readServerRecord, removeServerRecord, writeServerRecord } from './server-record.ts'
import { ensurePrivateDirectory } from './socket-path.ts'

export const serverLimits = {
  startTimeoutMs: 10_000,
  /** From kill-server until the process is ended by a signal. */
  stopGraceMs: 2_000,
  killedGraceMs: 2_000,
  socketReturnMs: 2_000,
  pollMs: 20,
  /** A server that has turned everybody away for this long never comes back; one on its way out needs far less. */
  wedgedAfterMs: 12_000,
  refusedPauseMs: 100,
  startTriesMax: 10,
} as const

export type RunningServer = { readonly facts: ServerFacts; readonly identity: ProcessIdentity }

export type EnsureOutcome =
  | ({
      readonly kind: 'running'
      readonly wasStarted: boolean
      /** Somebody else's server: only our own sessions, windows and panes are touched there. */
      readonly isForeign: boolean
      /** What tmux said against parts of the start that we can do without; empty when nothing. */
      readonly complaints: string
    } & RunningServer)
  /** It can not be told whether a server is there; nothing was started. */
  | { readonly kind: 'unknown'; readonly why: string; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }

export type EnsureOptions = {
  readonly clock: Clock
  readonly address: ServerAddress
  /** Name for a new server life; an older one on a running server stays. Letters and digits. */
  readonly instance: string
}

/** Makes sure that our server runs, and that its essential options stand as they must. */
export async function ensureServer(options: EnsureOptions): Promise<EnsureOutcome> {
  const { clock, address } = options
  const uid = process.getuid?.() ?? 0
  const check = ensurePrivateDirectory(dirname(address.socketPath), uid)
  if (check.kind === 'unsafe') return { kind: 'failed', detail: check.detail }
  let liveness = await probeLiveness(clock, address, readServerRecord(address))
  if (liveness.kind === 'unknown' && liveness.why === 'socket-removed') liveness = await recreateSocket(clock, address)
  if (liveness.kind === 'unknown' && liveness.why === 'refusing') liveness = await outwaitRefusal(clock, address)
  if (liveness.kind === 'unknown') return liveness
  if (liveness.kind === 'present' && (await isForeignServer(clock, address))) return joinForeign(options)
  const wasStarted = liveness.kind === 'absent'
  let first: ProgramResult | undefined
  // A start that meets an old server on its way out is turned away by it: exactly that is tried again.
  for (let tries = 0; wasStarted && tries < serverLimits.startTriesMax; tries++) {
    if (tries > 0) await sleep(clock, serverLimits.refusedPauseMs)
    first = await startServer(options)
    liveness = await probeLiveness(clock, address)
    if (liveness.kind === 'present' || !wasTurnedAway(first)) break
  }
  if (liveness.kind !== 'present') return { kind: 'failed', detail: `${describeResult(first)}; ${liveness.detail}` }
  return verify(options, liveness.facts, first)
}

const wasTurnedAway = (result: ProgramResult): boolean =>
  result.kind === 'exited' && classifyClientError(result.stderr) === 'refusing'

/** A server on its way out refuses for a moment; one that goes on refusing is wedged for good and ended, when it is the recorded one. */
async function outwaitRefusal(clock: Clock, address: ServerAddress): Promise<Liveness> {
  const record = readServerRecord(address)
  const deadlineMs = clock.monotonicMs() + serverLimits.wedgedAfterMs
  for (;;) {
    const liveness = await probeLiveness(clock, address, record)
    if (liveness.kind !== 'unknown' || liveness.why !== 'refusing') return liveness
    if (clock.monotonicMs() >= deadlineMs) break
    await sleep(clock, serverLimits.refusedPauseMs)
  }
  if (record === undefined || record.isForeign) return probeLiveness(clock, address, record)
  await signalProcess(clock, record, 'SIGKILL')
  await waitGone(clock, record, serverLimits.killedGraceMs)
  return probeLiveness(clock, address, record)
}

async function joinForeign(options: EnsureOptions): Promise<EnsureOutcome> {
  const { clock, address } = options
  const refusal = await ensureGuestKeeper(clock, address, options.instance)
  if (refusal !== undefined) return { kind: 'failed', detail: refusal }
  return takeRunning(options, { wasStarted: false, isForeign: true, complaints: '' })
}

/** Applies the sequence once more where an option is off (another program changed it), then judges by reading back. */
async function verify(
  options: EnsureOptions,
  facts: ServerFacts,
  first: ProgramResult | undefined,
): Promise<EnsureOutcome> {
  const { clock, address } = options
  let started = first
  let wrong = await findWrongOptions(clock, address)
  if (wrong.length > 0 || facts.instance === '') {
    started = await startServer(options)
    wrong = await findWrongOptions(clock, address)
  }
  if (wrong.length > 0) return { kind: 'failed', detail: `tmux does not keep these settings: ${wrong.join(', ')}` }
  return takeRunning(options, { wasStarted: first !== undefined, isForeign: false, complaints: complaintsOf(started) })
}

/** What tmux says when another start came first is no complaint. */
function complaintsOf(result: ProgramResult | undefined): string {
  const lines = result?.kind === 'exited' ? result.stderr.split('\n') : []
  return lines.filter((line) => line.trim() !== '' && !/^(duplicate session|already set): /.test(line)).join('; ')
}

async function takeRunning(
  { clock, address }: EnsureOptions,
  found: { readonly wasStarted: boolean; readonly isForeign: boolean; readonly complaints: string },
): Promise<EnsureOutcome> {
  const liveness = await probeLiveness(clock, address)
  const identity = liveness.kind === 'present' ? await readProcessIdentity(clock, liveness.facts.pid) : undefined
  if (liveness.kind !== 'present' || identity === undefined) {
    return { kind: 'failed', detail: 'the tmux server ended right after its start' }
  }
  const { instance } = liveness.facts
  const { socketPath } = address
  writeServerRecord(address, { ...identity, instance, socketPath, isForeign: found.isForeign })
  return { kind: 'running', ...found, facts: liveness.facts, identity }
}

/** The whole start as one sequence; harmless on a server that runs. Its exit status says nothing. */
export function startSequence(address: ServerAddress, instance: string): string[] {
  const commands: string[][] = [
    ['start-server'],
    ['set-option', '-s', 'exit-empty', 'off'],
    ['if-shell', '-F', '1', `set-option -so ${instanceOption} ${quote(instance)}`],
    ...serverOptions.map((option) => ['if-shell', '-F', '1', setOptionCommand(option)]),
    ...guardedBindings.map((binding) => ['if-shell', '-F', '1', binding]),
    ['new-session', '-d', '-s', address.keeperSession, '-x', '80', '-y', '24', '--', 'sleep', '2147483647'],
  ]
  return commands.flatMap((command, index) => (index === 0 ? command : [';', ...command]))
}

async function startServer(options: EnsureOptions): Promise<ProgramResult> {
  const { clock, address } = options
  mkdirSync(dirname(address.confPath), { recursive: true, mode: 0o700 })
  writeFileSync(address.confPath, configurationText, { mode: 0o600 })
  const tmuxArgs = [...addressArgs(address), ...startSequence(address, options.instance)]
  const timeoutMs = serverLimits.startTimeoutMs
  const runtimeDir = address.env['XDG_RUNTIME_DIR']
  if (runtimeDir !== undefined && existsSync(join(runtimeDir, 'systemd', 'private'))) {
    // A scope of its own keeps the server alive when the unit or the login that runs us ends.
    const args = ['--user', '--scope', '--quiet', '--collect', '--', address.tmux, ...tmuxArgs]
    const scoped = await runProgram({ clock, file: 'systemd-run', args, env: address.env, timeoutMs })
    if ((await probeLiveness(clock, address)).kind === 'present') return scoped
  }
  return runProgram({ clock, file: address.tmux, args: tmuxArgs, env: address.env, timeoutMs })
}

function describeResult(result: ProgramResult | undefined): string {
  if (result === undefined) return 'the tmux server went away'
  switch (result.kind) {
    case 'exited':
      return `tmux ended with ${result.code}: ${result.stderr.trim()}`
    case 'not-started':
      return `tmux could not be run: ${result.detail}`
    case 'timed-out':
      return `tmux did not start within ${result.afterMs} ms`
  }
}

/** Names of essential options that do not stand as they must, and `keeper` when that session is missing. */
export async function findWrongOptions(clock: Clock, address: ServerAddress): Promise<string[]> {
  const flags = { server: '-sv', session: '-gv', window: '-gwv' } as const
  const reads = essentialOptions.flatMap((option) => ['show-options', flags[option.scope], option.name, ';'])
  const args = [...existingServerArgs(address), ...reads, 'has-session', '-t', `=${address.keeperSession}`]
  const result = await runProgram({ clock, file: address.tmux, args, env: address.env, timeoutMs: 5_000 })
  const lines = result.kind === 'exited' ? result.stdout.split('\n') : []
  const wrong = essentialOptions.filter((option, index) => lines[index] !== option.value).map((option) => option.name)
  return result.kind === 'exited' && result.code === 0 ? wrong : [...wrong, 'keeper']
}

/**
 * Has the recorded server make its socket again after somebody removed it, and probes it.
 * Source: tmux(1), SIGUSR1.
 */
export async function recreateSocket(clock: Clock, address: ServerAddress, known?: ProcessIdentity): Promise<Liveness> {
  const record = known ?? readServerRecord(address)
  if (record === undefined) return { kind: 'unknown', why: 'socket-removed', detail: 'no record of the server process' }
  // The directory may have gone with it.
  mkdirSync(dirname(address.socketPath), { recursive: true, mode: 0o700 })
  if ((await signalProcess(clock, record, 'SIGUSR1')) === 'gone') return probeLiveness(clock, address, record)
  const deadlineMs = clock.monotonicMs() + serverLimits.socketReturnMs
  for (;;) {
    const liveness = await probeLiveness(clock, address, record)
    const isBack = liveness.kind === 'present' && liveness.facts.pid === record.pid
    if (isBack || clock.monotonicMs() >= deadlineMs) return liveness
    await sleep(clock, serverLimits.pollMs)
  }
}

/**
 * Makes the server ask again for the exit of its children. Some builds lose SIGCHLD: a pane is
 * then dead with an empty status until the next child ends.
 */
export function healLostExit(clock: Clock, server: ProcessIdentity): Promise<'sent' | 'gone'> {
  return signalProcess(clock, server, 'SIGCHLD')
}

export type StopOutcome =
  | { readonly kind: 'stopped'; readonly how: 'asked' | 'killed' | 'was-gone' }
  | { readonly kind: 'still-there' }

export type StopOptions = {
  readonly clock: Clock
  readonly address: ServerAddress
  readonly identity: ProcessIdentity
  /** Ends all our control clients: while one does not drain, kill-server leaves a server that refuses everybody for ever. */
  readonly closeClients: () => Promise<void>
}

/** Ends the server and all panes: our clients first, then kill-server, then after two seconds the recorded process. */
export async function stopServer(options: StopOptions): Promise<StopOutcome> {
  const { clock, address, identity } = options
  await options.closeClients()
  const liveness = await probeLiveness(clock, address, identity)
  // Another server at the same path is not the one to be stopped.
  if (liveness.kind !== 'present' || liveness.facts.pid === identity.pid) {
    const args = [...existingServerArgs(address), 'kill-server']
    await runProgram({ clock, file: address.tmux, args, env: address.env, timeoutMs: serverLimits.stopGraceMs })
  }
  const how = liveness.kind === 'absent' ? 'was-gone' : await endProcess(clock, identity)
  if (how === undefined) return { kind: 'still-there' }
  await removeRemains(clock, address, identity)
  return { kind: 'stopped', how }
}

async function endProcess(clock: Clock, identity: ProcessIdentity): Promise<'asked' | 'killed' | undefined> {
  if (await waitGone(clock, identity, serverLimits.stopGraceMs)) return 'asked'
  await signalProcess(clock, identity, 'SIGKILL')
  return (await waitGone(clock, identity, serverLimits.killedGraceMs)) ? 'killed' : undefined
}

/** tmux leaves its socket behind. It goes with our note, and only while nobody else has begun to listen there. */
async function removeRemains(clock: Clock, address: ServerAddress, identity: ProcessIdentity): Promise<void> {
  if (readServerRecord(address)?.pid !== identity.pid) return
  if ((await probeLiveness(clock, address)).kind !== 'absent') return
  rmSync(address.socketPath, { force: true })
  removeServerRecord(address)
}

async function waitGone(clock: Clock, identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + limitMs
  for (;;) {
    if ((await readProcessIdentity(clock, identity.pid))?.startedAt !== identity.startedAt) return true
    if (clock.monotonicMs() >= deadlineMs) return false
    await sleep(clock, serverLimits.pollMs)
  }
}

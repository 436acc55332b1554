/**
 * One program that this server runs for itself: argv words without a shell, a given environment, a deadline, bounded
 * output, and an end that is certain. Each runs in a process group of its own behind a small guard, which ends the whole
 * group when the server is gone: a server that is killed leaves no program of its own at work.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock } from '../async/clock.ts'

export type ProcessResult =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'not-started'; readonly detail: string }
  | {
      readonly kind: 'timed-out'
      readonly afterMs: number
      readonly stdout: string
      readonly stderr: string
    }
  | { readonly kind: 'aborted'; readonly reason: unknown }

export type ProcessOptions = {
  readonly clock: Clock
  /** The program and its arguments; a name without "/" is looked for in the PATH of `env`. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly stdin?: string
  /** More is read and dropped. Units: bytes, of each stream. */
  readonly outputBytesMax?: number
}

const outputBytesDefault = 1024 * 1024
/** Between asking the group to end and ending it. */
const graceMs = 1_000

/**
 * The last pipe of the guard is open as long as the server lives; what reads it ends the group after that. The program's
 * own stdin is descriptor 4. 127 is what a shell says of a program that it can not find, 126 of one that it may not run.
 */
const guard = `
( trap '' TERM HUP INT; cat <&3 >/dev/null; kill -TERM 0; sleep 1; kill -KILL 0 ) </dev/null >/dev/null 2>&1 4<&- &
watcher=$!
exec 3<&-
"$@" <&4 4<&- &
child=$!
exec 4<&-
wait "$child"
code=$?
kill -KILL "$watcher" 2>/dev/null
exit "$code"`

function spawnGuarded({ argv, cwd, env }: ProcessOptions) {
  return spawn('/bin/sh', ['-c', guard, 'cao-run', ...argv], {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
}

/** Resolves when the program has ended and its output is complete, or was ended. Errors: none. */
export function runProcess(options: ProcessOptions): Promise<ProcessResult> {
  const { signal } = options
  if (signal.aborted) return Promise.resolve({ kind: 'aborted', reason: signal.reason })
  let child: ReturnType<typeof spawnGuarded>
  try {
    child = spawnGuarded(options)
  } catch (error) {
    // Thrown and not told by an event: a directory that is a file, a path or an argument that is too long or holds a NUL.
    return Promise.resolve({ kind: 'not-started', detail: error instanceof Error ? error.message : String(error) })
  }
  return new Promise((resolve) => {
    const stdout = collect(child.stdout, options.outputBytesMax)
    const stderr = collect(child.stderr, options.outputBytesMax)
    let outcome: ProcessResult | undefined
    const end = (why: ProcessResult) => {
      outcome ??= why
      endGroup(child, options.clock)
    }
    const timer = options.clock.after(options.timeoutMs, () =>
      end({ kind: 'timed-out', afterMs: options.timeoutMs, stdout: stdout(), stderr: stderr() }),
    )
    const onAbort = () => end({ kind: 'aborted', reason: signal.reason })
    signal.addEventListener('abort', onAbort, { once: true })
    const finish = (result: ProcessResult) => {
      timer[Symbol.dispose]()
      signal.removeEventListener('abort', onAbort)
      resolve(outcome ?? result)
    }
    child.once('error', (error) => finish({ kind: 'not-started', detail: error.message }))
    // Not "close": what the program left running may hold its output open for ever.
    child.once('exit', (code) => {
      options.clock.after(drainMs, () => {
        for (const stream of child.stdio) stream?.destroy()
        finish({ kind: 'exited', code: code ?? 137, stdout: stdout(), stderr: stderr() })
      })
    })
    giveInput(child, options.stdin ?? '')
  })
}

/** What was written just before the end is still in the pipes. Units: ms. */
const drainMs = 20

function collect(stream: ChildProcess['stdout'], bytesMax = outputBytesDefault): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes))
    bytes += chunk.length
  })
  stream?.on('error', () => undefined)
  return () => Buffer.concat(chunks).toString('utf8')
}

function giveInput(child: ChildProcess, text: string): void {
  const input = child.stdio[4]
  if (input === null || input === undefined || !('end' in input)) return
  // A program that does not read what it is given is no fault.
  input.on('error', () => undefined)
  input.end(text)
  child.stdio[3]?.on('error', () => undefined)
}

function endGroup(child: ChildProcess, clock: Clock): void {
  const { pid } = child
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  const timer = clock.after(graceMs, () => signalGroup(pid, 'SIGKILL'))
  child.once('exit', () => {
    timer[Symbol.dispose]()
    // The guard has ended; who ignored its end, or was started by it, goes too.
    signalGroup(pid, 'SIGKILL')
  })
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

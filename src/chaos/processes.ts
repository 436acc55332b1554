/** Processes seen through /proc, and signals whose effect is looked at instead of believed. Linux only. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'

const pollMs = 20
const stateLimitMs = 5_000

export type ProcessFacts = { readonly pid: number; readonly parentPid: number; readonly state: string }

/** undefined for a process that is gone. Source: proc(5), /proc/PID/stat; the name before `)` may hold anything. */
export async function readProcess(pid: number): Promise<ProcessFacts | undefined> {
  const text = await readIfThere(`/proc/${pid}/stat`)
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return text === '' ? undefined : { pid, state, parentPid: Number(parent) }
}

/** False once it is gone or only waits to be reaped. The threads of a killed process may outlive its first one for a moment. */
export async function isRunning(pid: number): Promise<boolean> {
  const facts = await readProcess(pid)
  if (facts === undefined) return false
  if (facts.state !== 'Z' && facts.state !== 'X') return true
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  return threads.length > 1
}

export async function listChildren(pid: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const facts = await Promise.all(pids.map(readProcess))
  return facts.flatMap((one) => (one?.parentPid === pid ? [one.pid] : []))
}

/** The words of its command line; none for a process that is gone. */
export async function readCommand(pid: number): Promise<readonly string[]> {
  return (await readIfThere(`/proc/${pid}/cmdline`)).split('\0').slice(0, -1)
}

export async function countDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Whether it was there to be hit. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (isCode(error, 'ESRCH')) return false
    throw error
  }
}

/** Stops a process and proves it. False: it had ended before. Errors: TIMEOUT when it runs on. */
export async function freeze(clock: Clock, pid: number): Promise<boolean> {
  if (!signalIfThere(pid, 'SIGSTOP')) return false
  const endMs = clock.monotonicMs() + stateLimitMs
  for (;;) {
    const facts = await readProcess(pid)
    if (facts === undefined || facts.state === 'Z') return false
    if (facts.state === 'T') return true
    if (clock.monotonicMs() > endMs) throw new AppError('TIMEOUT', `process ${pid} did not stop: state ${facts.state}`)
    await sleep(clock, pollMs)
  }
}

/** Errors: TIMEOUT when it lives on after `limitMs`. */
export async function waitForEnd(clock: Clock, pid: number, limitMs: number): Promise<void> {
  const endMs = clock.monotonicMs() + limitMs
  while (await isRunning(pid)) {
    if (clock.monotonicMs() > endMs) throw new AppError('TIMEOUT', `process ${pid} did not end within ${limitMs} ms`)
    await sleep(clock, pollMs)
  }
}

/** Runs a program to its end; what it printed. Errors: its own, with its last words; one that takes longer than `limitMs` is ended. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, limitMs }: { readonly env: Readonly<Record<string, string>>; readonly limitMs: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, timeout: limitMs, killSignal: 'SIGKILL', encoding: 'utf8' }, (error, out, err) => {
      if (error === null) resolve(out)
      else
        reject(
          new AppError('INTERNAL', `${program} ${args.join(' ')}: ${err.trim() || error.message}`, { cause: error }),
        )
    })
  })
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ESRCH')) return ''
    throw error
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

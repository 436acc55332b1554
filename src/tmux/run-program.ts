/**
 * One short-lived process with bounded output and a deadline. Its group is its own, so that a
 * Ctrl-C meant for us does not reach it; on a deadline only that process is ended.
 */
import { spawn } from 'node:child_process'
import type { Clock } from '../async/clock.ts'

export type ProgramResult =
  | { readonly kind: 'exited'; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'not-started'; readonly detail: string }
  | { readonly kind: 'timed-out'; readonly afterMs: number }

export type ProgramOptions = {
  readonly clock: Clock
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const outputBytesMax = 1024 * 1024

/** Runs the program to its end. It inherits no descriptor of ours; stdin is empty. Output over 1 MiB is cut. */
export function runProgram(options: ProgramOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(options.file, options.args, {
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const outputs = [child.stdout, child.stderr].map((stream) => {
      const chunks: Buffer[] = []
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        if (bytes < outputBytesMax) chunks.push(chunk)
        bytes += chunk.length
      })
      return () => Buffer.concat(chunks).subarray(0, outputBytesMax).toString('utf8')
    })
    const timer = options.clock.after(options.timeoutMs, () => {
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ kind: 'timed-out', afterMs: options.timeoutMs })
    })
    child.once('error', (error) => {
      timer[Symbol.dispose]()
      resolve({ kind: 'not-started', detail: error.message })
    })
    child.once('close', (code) => {
      timer[Symbol.dispose]()
      resolve({ kind: 'exited', code, stdout: outputs[0]?.() ?? '', stderr: outputs[1]?.() ?? '' })
    })
  })
}

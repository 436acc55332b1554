/**
 * Child processes of the scripts: `capture` for short tools whose output matters only when they fail, `attach` for
 * the command that the person asked for (inherits the terminal, gets our signals, its end is ours).
 */
import { spawn } from 'node:child_process'

const killGraceMs = 10_000

/**
 * Runs a tool to its end and returns its code and its output (stdout and stderr together). `onStart` is told its pid.
 * Errors: none; a program that can not be started has code 127, one that ran longer than `limitMs` has code 124.
 */
export function capture(program, args, { limitMs, cwd, env, onStart } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    if (child.pid !== undefined) onStart?.(child.pid)
    let output = ''
    let isLate = false
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => {
            isLate = true
            child.kill('SIGKILL')
          }, limitMs)
    const end = (code) => {
      clearTimeout(timer)
      resolve({ code: isLate ? 124 : code, output: isLate ? `${output}\n(ended after ${limitMs} ms)` : output })
    }
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => {
      output += error.message
      end(127)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

/**
 * Runs a program on our terminal and returns its exit code (128 + number when a signal ended it).
 * Owns: passes SIGINT, SIGTERM and SIGHUP on, and kills the program when it has not ended 10 s after SIGTERM or SIGHUP.
 */
export function attach(program, args, { cwd, env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' })
    let timer
    const forward = (signal) => {
      // A terminal sends SIGINT to the whole foreground group: the child has it already, a second one would cut its clean-up short.
      if (signal === 'SIGINT' && process.stdin.isTTY) return
      child.kill(signal)
      if (signal !== 'SIGINT') timer ??= setTimeout(() => child.kill('SIGKILL'), killGraceMs)
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, forward)
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) process.off(signal, forward)
    }
    child.on('error', (error) => {
      end()
      reject(error)
    })
    child.on('exit', (code, signal) => {
      end()
      resolve(code ?? 128 + (signalNumbers[signal] ?? 0))
    })
  })
}

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }

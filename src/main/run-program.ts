/** Runs a program in front of the person: on our terminal, with our environment, until it ends. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The exit code, as a shell would give it. Errors: the system's, when the program can not be started. */
export function runProgram(argv: readonly string[]): Promise<number> {
  const [file = '', ...args] = argv
  // Inside somebody's tmux, an attach to ours would be refused as nested.
  const { TMUX: _socket, TMUX_PANE: _pane, ...env } = process.env
  const child = spawn(file, args, { stdio: 'inherit', env })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  // A Ctrl-C reaches the whole foreground group by itself; one that somebody sends to us alone must reach it, too.
  for (const signal of forwarded) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      for (const signal of forwarded) process.off(signal, forward)
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
    })
  })
}

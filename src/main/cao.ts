/**
 * The `cao` program: gives the command line the process it runs in. Nothing is loaded here that a quick command does
 * not need; what talks to the server comes with the first call of `openClient`.
 */
import { spawn } from 'node:child_process'
import { homedir, constants as osConstants } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import type { CliContext, Programs } from '../cli/command.ts'
import { readAll } from '../cli/read-stdin.ts'
import { runCli } from '../cli/run-cli.ts'
import { version } from '../lib/version.ts'
import { layoutOf, resolveHome } from '../protocol/home.ts'
import { findRoot } from './root.ts'

function listPrograms(): Programs {
  const root = findRoot()
  return {
    server: [join(root, 'bin', 'cao-server')],
    demo: [process.execPath, join(root, 'dist', 'demo.mjs')],
    version,
  }
}

/** Resolves when stdout can take more, so that a slow reader slows us down instead of filling our memory. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

function runProgram(argv: readonly string[]): Promise<number> {
  const [file = '', ...args] = argv
  // Inside somebody's tmux, an attach to ours would be refused as nested.
  const { TMUX: _socket, TMUX_PANE: _pane, ...env } = process.env
  const child = spawn(file, args, { stdio: 'inherit', env })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  // Ctrl-C reaches the whole foreground group by itself.
  process.on('SIGTERM', forward)
  process.on('SIGHUP', forward)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', forward)
      process.off('SIGHUP', forward)
      resolve(code ?? 128 + (signal === null ? 0 : osConstants.signals[signal]))
    })
  })
}

function createContext(signal: AbortSignal): CliContext {
  const layout = layoutOf(resolveHome(process.env, homedir()))
  const programs = listPrograms()
  return {
    env: process.env,
    cwd: process.cwd(),
    layout,
    clock: systemClock,
    programs,
    signal,
    isTerminal: { stdin: process.stdin.isTTY === true, stdout: process.stdout.isTTY === true },
    get columns() {
      return process.stdout.columns
    },
    out: write,
    note: (line) => void process.stderr.write(`${line}\n`),
    readStdin: () => readAll(process.stdin),
    ask,
    runProgram,
    async openClient({ mayStart = true } = {}) {
      const { ensureServer, requireServer } = await import('../cli/ensure-server.ts')
      const { createClient } = await import('../client/client.ts')
      const common = { layout, clock: systemClock }
      const file = mayStart
        ? (await ensureServer({ ...common, signal, env: process.env, program: programs.server })).file
        : await requireServer(common)
      return createClient({ socketPath: file.socket_path }, { clock: systemClock })
    },
  }
}

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
}
// A reader that has gone away is found out by the write that fails.
process.stdout.on('error', () => undefined)
process.exitCode = await runCli(process.argv.slice(2), createContext(interrupted.signal))

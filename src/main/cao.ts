/**
 * The `cao` program: gives the command line the process it runs in. Nothing is loaded here that a quick command does
 * not need; what talks to the server comes with the first call of `openClient`.
 */
import { join, resolve } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import type { CliContext, Programs } from '../cli/command.ts'
import { runCli } from '../cli/run-cli.ts'
import { requireSameProtocol } from '../cli/same-protocol.ts'
import { AppError } from '../domain/errors.ts'
import { version } from '../lib/version.ts'
import { type HomeLayout, layoutOf, resolveHome, type ServerFile } from '../protocol/home.ts'
import { findRoot } from './root.ts'

function listPrograms(): Programs {
  const root = findRoot()
  return {
    server: [join(root, 'bin', 'cao-server')],
    demo: [process.execPath, join(root, 'dist', 'demo.mjs')],
    version,
  }
}

/** As os.homedir() has it, which is not loaded where HOME says it. */
function findUserHome(): string {
  const { HOME = '' } = process.env
  return HOME === '' ? process.getBuiltinModule('node:os').homedir() : HOME
}

/** Done where it is needed: whoever removed the current directory must still be able to look at their agents. Errors: DIRECTORY_MISSING. */
function inDirectory<T>(act: () => T): T {
  try {
    return act()
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause && cause.syscall === 'uv_cwd')) throw cause
    const sentence =
      'the current directory is gone; go to another, or name one from "/" on (--working-directory, CAO_HOME)'
    throw new AppError('DIRECTORY_MISSING', sentence, { cause })
  }
}

const findHome = (): HomeLayout => inDirectory(() => layoutOf(resolve(resolveHome(process.env, findUserHome()))))

/** Resolves when stdout can take more, so that a slow reader slows us down instead of filling our memory. */
function write(text: string): Promise<void> {
  return new Promise((done, reject) => {
    process.stdout.write(text, (error) => (error ? reject(toOutputFault(error)) : done()))
  })
}

/** A reader that has gone away is no fault; `runCli` knows it by its code. */
function toOutputFault(error: NodeJS.ErrnoException): Error {
  const { code = '', message } = error
  if (code === 'EPIPE') return error
  const kind = code === 'ENOSPC' || code === 'EDQUOT' ? 'STORAGE_FULL' : 'BAD_REQUEST'
  return new AppError(kind, `what this command prints can not be written: ${message}`, { cause: error })
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

/** The line is not echoed: the terminal is read key by key, and its other half goes nowhere. Aborts with `signal`. */
async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline/promises'),
    import('node:stream'),
  ])
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  process.stderr.write(question)
  try {
    return await lines.question('', { signal })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

type Starting = Pick<CliContext, 'layout' | 'programs' | 'signal'> & { readonly mayStart: boolean }

/** Errors: SERVER_UNREACHABLE. */
async function startServer({ mayStart, layout, programs, signal }: Starting): Promise<ServerFile> {
  const { ensureServer, requireServer } = await import('../cli/ensure-server.ts')
  const common = { layout, clock: systemClock }
  if (!mayStart) return requireServer(common)
  return (await ensureServer({ ...common, signal, env: process.env, program: programs.server })).file
}

function createContext(signal: AbortSignal): CliContext {
  const programs = listPrograms()
  let layout: HomeLayout | undefined
  return {
    env: process.env,
    get cwd() {
      return inDirectory(() => process.cwd())
    },
    get layout() {
      layout ??= findHome()
      return layout
    },
    clock: systemClock,
    programs,
    signal,
    // Asked when it is needed: the stream objects, and even node:tty, take longer to make than a quick command has.
    isTerminal: {
      get stdin() {
        return process.getBuiltinModule('node:tty').isatty(0)
      },
      get stdout() {
        return process.getBuiltinModule('node:tty').isatty(1)
      },
    },
    get columns() {
      return process.stdout.columns
    },
    out: write,
    note: (line) => void process.stderr.write(`${line}\n`),
    readStdin: async () => (await import('../cli/read-stdin.ts')).readAll(process.stdin),
    ask,
    askSecret: (question) => askSecret(question, signal),
    runProgram: async (argv) => (await import('./run-program.ts')).runProgram(argv),
    async openScreenTools() {
      const { ScreenTools } = await import('../rules/screen-tools.ts')
      const { createProviders } = await import('./create-providers.ts')
      return new ScreenTools(createProviders(findRoot()), this.layout.rulesDir)
    },
    async repairStore() {
      return (await import('./repair-home.ts')).repairHome(this.layout)
    },
    async openClient({ mayStart = true } = {}) {
      const { findServer } = await import('../cli/find-server.ts')
      const found = await findServer(this.layout, systemClock)
      const file =
        found.kind === 'running' ? found.file : await startServer({ mayStart, layout: this.layout, programs, signal })
      requireSameProtocol(file, programs.version)
      const { createClient } = await import('../client/client.ts')
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

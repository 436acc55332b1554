/** The demo as a program: gives it the process it runs in. `npm run demo` and `cao demo` start it. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import { demoUsage, parseDemoOptions, type RealCli } from '../demo/demo-options.ts'
import { runDemo } from '../demo/run-demo.ts'
import { AppError } from '../domain/errors.ts'
import { claudePackage } from '../providers/claude_code/install.ts'
import { installProgram, type NpmProgram, programIn } from '../providers/npm-program.ts'
import { opencodePackage } from '../providers/opencode_cli/install.ts'
import { findRoot } from './root.ts'

type Program = { readonly name: string; readonly title: string; readonly npm: NpmProgram }
const programs: Readonly<Record<RealCli, Program>> = {
  opencode_cli: { name: 'opencode', title: 'OpenCode', npm: opencodePackage },
  claude_code: { name: 'claude', title: 'Claude Code', npm: claudePackage },
}

/** The cache of the checkout; a package lies where nothing may be written: the user's. */
function cacheFolder(): string {
  const root = findRoot()
  if (existsSync(join(root, 'scripts'))) return join(root, '.cache')
  const { XDG_CACHE_HOME = '' } = process.env
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'cao')
}

/** Into a folder of its own in the cache, so that the second run finds it. */
async function install(cli: RealCli, tell: (line: string) => void, signal: AbortSignal): Promise<string> {
  const program = programs[cli]
  const dir = join(cacheFolder(), 'clis', `${program.name}-${program.npm.version}`)
  if (!existsSync(programIn(dir, program.npm))) {
    tell(`installing ${program.title} ${program.npm.version} from npm into ${dir} …`)
  }
  await mkdir(dirname(dir), { recursive: true })
  const outcome = await installProgram(program.npm, { dir, npm: ['npm'] }, { signal })
  if (outcome.kind === 'installed') return outcome.program
  throw new AppError('PROGRAM_MISSING', `${program.title} could not be installed from npm: ${outcome.why}`)
}

async function main(): Promise<number> {
  const options = parseDemoOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(demoUsage)
    return 0
  }
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return runDemo({
    options,
    clock: systemClock,
    signal: interrupted.signal,
    env: process.env,
    root: findRoot(),
    say: (line) => void process.stdout.write(`${line}\n`),
    install,
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`Error: ${error.message}\n`)
  process.exitCode = error.row.exitCode
}

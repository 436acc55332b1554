/**
 * `cao service`: the server as a unit of the person's own systemd, started with the login (or, with linger, at boot) and again
 * after a crash. Written is one file below ~/.config/systemd/user, and only when asked for.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { AppError, errorTable } from '../domain/errors.ts'
import { existsSync } from './builtins.ts'
import { cleanLine } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { findServer } from './find-server.ts'
import { refuseBadHome } from './home-fault.ts'
import { isLingering } from './logout.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { requirePerson } from './require-person.ts'
import { unitText } from './service-unit.ts'
import { formatFacts } from './table.ts'

const systemctlLimitMs = 30_000

export const serviceCommand: Command = {
  usage: `cao service install|uninstall|status [--json]
       cao service install --print

  install    write a systemd user unit that runs the server, enable it and start it
  uninstall  stop and disable it, and remove the file; agents go on
  status     say whether it is installed and runs (exit code ${errorTable.SERVER_UNREACHABLE.exitCode} when it does not run)
  --print    only print the unit`,
  options: { print: { type: 'boolean' } },
  async run({ options, positionals, context }) {
    const { ACTION: action = '' } = takePositionals(positionals, ['ACTION'])
    const isJson = flagOption(options, 'json')
    refuseBadHome(context.layout)
    switch (action) {
      case 'install':
        if (!flagOption(options, 'print')) return install(context, isJson)
        if (isJson) await printJson(context, { unit: unitOf(context).path, text: textOf(context) })
        else await context.out(textOf(context))
        return 0
      case 'uninstall':
        return uninstall(context, isJson)
      case 'status':
        return showStatus(context, isJson)
      default:
        throw new AppError('BAD_REQUEST', `"${action}" is none of install, uninstall, status`)
    }
  },
}

const textOf = ({ programs, layout, env }: CliContext): string =>
  unitText({ program: programs.server, home: layout.home, path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' })

/** One unit for each home; that of the usual home has the plain name. */
function unitOf({ env, layout }: CliContext): { readonly name: string; readonly path: string } {
  const { HOME = userInfo().homedir, XDG_CONFIG_HOME = '' } = env
  const hash = createHash('sha256').update(layout.home).digest('hex').slice(0, 8)
  const name = layout.home === join(HOME, '.cao') ? 'cao.service' : `cao-${hash}.service`
  const config = XDG_CONFIG_HOME.startsWith('/') ? XDG_CONFIG_HOME : join(HOME, '.config')
  return { name, path: join(config, 'systemd', 'user', name) }
}

async function install(context: CliContext, isJson: boolean): Promise<number> {
  requirePerson(context)
  const unit = unitOf(context)
  await requireManager(context)
  const { out: state } = await systemctl(context, 'is-active', unit.name)
  const found = await findServer(context.layout, context.clock)
  if (found.kind !== 'none' && state !== 'active') {
    throw new AppError(
      'CONFLICT',
      `a server runs already (pid ${found.file.pid}), and not by this unit: "cao server stop" ends it, agents go on; then install again`,
    )
  }
  await mkdir(dirname(unit.path), { recursive: true, mode: 0o700 })
  await writeFile(`${unit.path}.new`, textOf(context))
  await chmod(`${unit.path}.new`, 0o644)
  await rename(`${unit.path}.new`, unit.path)
  await requireDone(context, 'daemon-reload')
  await requireDone(context, 'enable', unit.name)
  // A unit that ran with an older text is started anew; agents go on.
  await requireDone(context, 'restart', unit.name)
  const { username } = userInfo()
  if (isJson) await printJson(context, { unit: unit.path, lingering: isLingering(username) })
  else await printLine(context, `installed and started: ${unit.path}`)
  if (!isLingering(username))
    context.note(
      `Note: it ends with your last logout; "loginctl enable-linger ${username}" keeps it, and starts it at boot`,
    )
  return 0
}

async function uninstall(context: CliContext, isJson: boolean): Promise<number> {
  requirePerson(context)
  const unit = unitOf(context)
  const isThere = existsSync(unit.path)
  if (isThere) {
    const manager = await findManager(context)
    if (manager.isThere) await requireDone(context, 'disable', '--now', unit.name)
    await rm(unit.path, { force: true })
    if (manager.isThere) await requireDone(context, 'daemon-reload')
  }
  if (isJson) await printJson(context, { removed: isThere, unit: unit.path })
  else await printLine(context, isThere ? `removed: ${unit.path}; agents that run go on` : 'no unit is installed')
  return 0
}

async function showStatus(context: CliContext, isJson: boolean): Promise<number> {
  const unit = unitOf(context)
  const isThere = existsSync(unit.path)
  const manager = await findManager(context)
  const ask = async (what: string) => (manager.isThere ? (await systemctl(context, what, unit.name)).out : 'unknown')
  const [enabled, active] = [await ask('is-enabled'), await ask('is-active')]
  const isCurrent = isThere && (await readFile(unit.path, 'utf8')) === textOf(context)
  const facts = { unit: unit.path, installed: isThere, current: isCurrent, enabled, active }
  if (isJson) await printJson(context, facts)
  else
    await printLine(
      context,
      formatFacts([
        ['unit', isThere ? unit.path : `not installed ("cao service install" writes ${unit.path})`],
        ...(isThere && !isCurrent ? [['text', 'not what this cao would write: install it again'] as const] : []),
        ['enabled', enabled],
        ['active', active],
        ['systemd', manager.isThere ? 'answers' : `no user manager answers (${manager.why})`],
      ]),
    )
  return active === 'active' ? 0 : errorTable.SERVER_UNREACHABLE.exitCode
}

type Ran = { readonly code: number; readonly out: string; readonly err: string }

function systemctl({ env }: CliContext, ...words: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env, timeout: systemctlLimitMs }
    execFile('systemctl', ['--user', '--no-pager', ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127
      resolve({ code, out: stdout.trim(), err: cleanLine(stderr === '' ? (error?.message ?? '') : stderr) })
    })
  })
}

type Manager = { readonly isThere: true } | { readonly isThere: false; readonly why: string }

/** Whether the person's systemd answers; a machine that is degraded or still starting does. */
async function findManager(context: CliContext): Promise<Manager> {
  const { code, out, err } = await systemctl(context, 'is-system-running')
  if (['running', 'degraded', 'starting', 'initializing', 'maintenance', 'stopping'].includes(out))
    return { isThere: true }
  return { isThere: false, why: code === 127 ? 'systemctl can not be run' : out === '' ? err : out }
}

/** Errors: SETUP_MISSING with what to do without systemd. */
async function requireManager(context: CliContext): Promise<void> {
  const manager = await findManager(context)
  if (manager.isThere) return
  throw new AppError(
    'SETUP_MISSING',
    `no systemd user manager answers here (${manager.why}); nothing was written: "cao service install --print" shows the unit, "cao server start" runs the server without one`,
  )
}

async function requireDone(context: CliContext, ...words: readonly string[]): Promise<void> {
  const { code, err } = await systemctl(context, ...words)
  if (code !== 0) throw new AppError('CONFLICT', `"systemctl --user ${words.join(' ')}" failed: ${err}`)
}

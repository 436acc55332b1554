/** `cao doctor`: one line for each thing that CAO needs; a check is a function in the list below. */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import type { Client } from '../client/client.ts'
import { AppError, errorTable } from '../domain/errors.ts'
import type { HomeLayout } from '../protocol/home.ts'
import { describeLastGreen } from '../protocol/last-green.ts'
import { protocolVersion } from '../protocol/version.ts'
import { cleanLine } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { describeHomeFault, refuseBadHome, toHomeFault } from './home-fault.ts'
import { judgeLogout, readLogoutFacts } from './logout.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { formatTable } from './table.ts'

export type Finding = {
  readonly what: string
  readonly level: 'ok' | 'note' | 'fail'
  /** What was found, and what to do about it. */
  readonly detail: string
}

const nodeMajorMin = 24
/** Units: bytes. */
const freeBytesMin = 200 * 1024 * 1024
const programLimitMs = 10_000

export const doctorCommand: Command = {
  usage: `cao doctor [--json]
       cao doctor --repair-store

  Starts the server if none runs. Exit code 0 when nothing is missing that CAO can not do without.
  --repair-store   mend a damaged database while no server runs: the file is put aside, the newest good copy (or an
                   empty one) takes its place, and agents that run are taken in again`,
  options: { 'repair-store': { type: 'boolean' } },
  async run({ options, positionals, context }) {
    takePositionals(positionals, [])
    if (flagOption(options, 'repair-store')) {
      const { repairStore } = await import('./repair-store.ts')
      return repairStore(context, flagOption(options, 'json'))
    }
    const { findings, exitCode } = await examine(context)
    if (flagOption(options, 'json')) await printJson(context, findings)
    else await printLine(context, formatFindings(findings))
    return findings.some(({ level }) => level === 'fail') ? exitCode : 0
  },
}

function formatFindings(findings: readonly Finding[]): string {
  return formatTable(
    [
      { title: 'CHECK', text: ({ what }) => what },
      { title: '', text: ({ level }) => level },
      { title: 'FOUND', text: ({ detail }) => detail },
    ],
    findings,
  )
}

type Examined = {
  readonly findings: readonly Finding[]
  /** Where a finding is a failure. */
  readonly exitCode: number
}

async function examine(context: CliContext): Promise<Examined> {
  const { exitCode } = errorTable.SETUP_MISSING
  const local = [checkNode(), await checkTmux(), ...(await checkHome(context))]
  let client: Client
  try {
    client = await context.openClient()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const server: Finding = { what: 'server', level: 'fail', detail: cleanLine(error.message) }
    return { findings: [...local, server], exitCode: error.row.exitCode }
  }
  const findings = [
    ...local,
    ...(await checkServer(client, context)),
    ...(await checkLogout(client)),
    ...(await askServer(client)),
    ...(await checkProviders(client)),
    ...(await checkProfiles(client)),
  ]
  return { findings, exitCode }
}

function checkNode(): Finding {
  const { node } = process.versions
  const isGood = Number(node.split('.')[0]) >= nodeMajorMin
  return isGood
    ? { what: 'node', level: 'ok', detail: node }
    : { what: 'node', level: 'fail', detail: `${node} is too old: run CAO by bin/cao after "npm run setup"` }
}

/** 3.2a is the oldest whose behaviour is known. */
export function judgeTmux(said: string): Finding {
  const [, major, minor, letter = ''] = /^tmux (?:next-)?(\d+)\.(\d+)([a-z]?)/.exec(said) ?? []
  if (major === undefined || minor === undefined) {
    return { what: 'tmux', level: 'note', detail: `${cleanLine(said)}: a version that CAO does not know` }
  }
  const rank = Number(major) * 100 + Number(minor)
  const isGood = rank > 302 || (rank === 302 && letter >= 'a')
  return {
    what: 'tmux',
    level: isGood ? 'ok' : 'fail',
    detail: isGood ? said : `${said} is too old: install tmux 3.2a or newer`,
  }
}

async function checkTmux(): Promise<Finding> {
  return new Promise((resolve) => {
    execFile('tmux', ['-V'], { timeout: programLimitMs }, (error, stdout) => {
      if (error === null) resolve(judgeTmux(stdout.trim()))
      else
        resolve({
          what: 'tmux',
          level: 'fail',
          detail: 'tmux does not run: install it, for example "apt-get install tmux"',
        })
    })
  })
}

async function checkHome({ layout }: CliContext): Promise<readonly Finding[]> {
  const { home } = layout
  try {
    refuseBadHome(layout)
    const found = await stat(home)
    if (!found.isDirectory()) throw describeHomeFault('ENOTDIR', { home }) ?? new Error(`${home} is no folder`)
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK)
    const isPrivate = (found.mode & 0o077) === 0
    const { bavail, bsize } = await statfs(home)
    const free = bavail * bsize
    return [
      ...(await checkFolders(layout)),
      isPrivate
        ? { what: 'home', level: 'ok', detail: home }
        : { what: 'home', level: 'fail', detail: `${home} is open to other users: chmod 700 ${home}` },
      {
        what: 'disk',
        level: free >= freeBytesMin ? 'ok' : 'fail',
        detail: `${Math.floor(free / 1024 / 1024)} MiB free${free >= freeBytesMin ? '' : ': make room, or messages will be refused'}`,
      },
    ]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return [{ what: 'home', level: 'ok', detail: `${home} is not there yet; the server makes it` }]
    const fault = toHomeFault(error, home)
    if (!(fault instanceof AppError)) throw error
    return [{ what: 'home', level: 'fail', detail: cleanLine(fault.message) }]
  }
}

/** A folder that this user can not use, as after a run under another one. */
async function checkFolders(layout: HomeLayout): Promise<readonly Finding[]> {
  const { runDir, logsDir, dbFile, terminalsDir, shimsDir, outboxDir } = layout
  const findings: Finding[] = []
  for (const dir of [runDir, logsDir, dirname(dbFile), terminalsDir, shimsDir, outboxDir]) {
    const problem = await findProblem(dir)
    if (problem !== undefined) findings.push({ what: 'permissions', level: 'fail', detail: `${dir} ${problem}` })
  }
  return findings
}

async function findProblem(dir: string): Promise<string | undefined> {
  try {
    const { uid } = await stat(dir)
    const own = process.getuid?.() ?? uid
    if (uid !== own) return `belongs to user ${uid}, and not to you (${own}): chown it with all that is in it`
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    return 'can not be used: chmod 700 on it gives it back to you'
  }
}

/** What a logout would do to the agents. */
async function checkLogout(client: Client): Promise<readonly Finding[]> {
  const { backend } = await client.health()
  const pid = Number(backend?.details['pid'])
  if (process.platform !== 'linux' || !Number.isInteger(pid) || pid <= 0) return []
  const judged = judgeLogout(await readLogoutFacts(pid, userInfo().username))
  return judged === undefined ? [] : [{ what: 'logout', ...judged }]
}

async function checkServer(client: Client, { programs }: CliContext): Promise<readonly Finding[]> {
  const health = await client.health()
  const isSame = health.version === programs.version && health.protocol_version === protocolVersion
  const server: Finding = isSame
    ? { what: 'server', level: 'ok', detail: `pid ${health.pid ?? '?'}, version ${health.version}` }
    : {
        what: 'server',
        level: 'note',
        detail: `version ${health.version}, this command is ${programs.version}: "cao server stop", then any command`,
      }
  const { backend } = health
  if (backend === undefined) return [server]
  // Ended by `shutdown --all`, or by its own death: the next launch starts it.
  const level = backend.state === 'gone' ? 'note' : 'ok'
  const rest = backend.state === 'gone' ? 'not running; the next launch starts it' : backend.state
  return [server, { what: 'backend', level, detail: `${backend.name} ${backend.version}, ${rest}` }]
}

/** The server knows its backend, and what is left over. An older one does not know the question. */
async function askServer(client: Client): Promise<readonly Finding[]> {
  try {
    return (await client.doctor()).map(({ what, level, detail }) => ({ what, level, detail: cleanLine(detail) }))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    return []
  }
}

async function checkProviders(client: Client): Promise<readonly Finding[]> {
  const providers = await client.listProviders()
  return providers.map(({ name, binary, hint }) =>
    binary === null
      ? { what: name, level: 'note', detail: `not installed${hint === null ? '' : `: ${hint}`}` }
      : {
          what: name,
          level: 'ok',
          detail: [binary, describeLastGreen(name)].filter((part) => part !== undefined).join('; '),
        },
  )
}

async function checkProfiles(client: Client): Promise<readonly Finding[]> {
  const profiles = await client.listProfiles()
  const broken = profiles.filter(({ loadable }) => !loadable).map(({ name }) => name)
  return [
    broken.length === 0
      ? { what: 'profiles', level: 'ok', detail: profiles.map(({ name }) => name).join(', ') }
      : { what: 'profiles', level: 'note', detail: `can not be read: ${broken.join(', ')}` },
  ]
}

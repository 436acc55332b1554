/**
 * What a logout does to the agents: their tmux server may live inside the login that started it, or under the person's systemd,
 * which ends with the last login. For `cao doctor` and `cao service`. Source: logind.conf(5), loginctl(1), proc(5).
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { existsSync } from './builtins.ts'

const busctlLimitMs = 5_000

export type LogoutFacts = {
  /** Where systemd keeps the tmux server; undefined where there is none. */
  readonly unitPath: string | undefined
  /** Undefined: it can not be found out. */
  readonly killsUserProcesses: boolean | undefined
  readonly isLingering: boolean
  readonly user: string
}

export const isLingering = (user: string): boolean => existsSync(`/var/lib/systemd/linger/${user}`)

/** Errors: the file system's; a process that is gone has no place. */
export async function readLogoutFacts(pid: number, user: string): Promise<LogoutFacts> {
  const unitPath = await readUnitPath(pid)
  return {
    unitPath,
    killsUserProcesses: unitPath === undefined ? undefined : await askKillsUserProcesses(),
    isLingering: isLingering(user),
    user,
  }
}

async function readUnitPath(pid: number): Promise<string | undefined> {
  try {
    return findUnitPath(await readFile(`/proc/${pid}/cgroup`, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

/** From /proc/PID/cgroup: systemd's own hierarchy, in either form. Pure. */
export function findUnitPath(cgroup: string): string | undefined {
  const lines = cgroup.split('\n')
  const path = [/^\d+:name=systemd:(.+)$/, /^0::(.+)$/]
    .map((pattern) => lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined && each !== '/'))
    .find((each) => each !== undefined)
  return path
}

function askKillsUserProcesses(): Promise<boolean | undefined> {
  const manager = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager']
  return new Promise((resolve) => {
    execFile('busctl', ['get-property', ...manager, 'KillUserProcesses'], { timeout: busctlLimitMs }, (error, stdout) =>
      resolve(error === null ? stdout.trim() === 'b true' : undefined),
    )
  })
}

export type LogoutJudgement = { readonly level: 'ok' | 'note'; readonly detail: string }

/** Undefined where no systemd holds the tmux server. Pure. */
export function judgeLogout({
  unitPath,
  killsUserProcesses,
  isLingering,
  user,
}: LogoutFacts): LogoutJudgement | undefined {
  if (unitPath === undefined) return undefined
  const cure = `"loginctl enable-linger ${user}"`
  const session = /\/session-([^/]+)\.scope/.exec(unitPath)?.[1]
  if (session !== undefined) {
    if (killsUserProcesses === false)
      return { level: 'ok', detail: `agents live in login session ${session}; a logout leaves them` }
    const doubt = killsUserProcesses === undefined ? ' where KillUserProcesses is on' : ''
    const move = 'then end them once ("cao shutdown --all") and start them with "cao service install"'
    return {
      level: 'note',
      detail: `agents live in login session ${session}: a logout ends them${doubt}; ${cure}, ${move}`,
    }
  }
  if (!/\/user@\d+\.service\//.test(unitPath)) return { level: 'ok', detail: `no login holds the agents (${unitPath})` }
  if (isLingering) return { level: 'ok', detail: `agents live under the systemd of ${user}, which lingers` }
  return {
    level: 'note',
    detail: `agents live under the systemd of ${user}, which ends with the last logout, and they with it: ${cure}`,
  }
}

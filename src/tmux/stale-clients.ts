/**
 * Control clients that a dead process of ours left behind. They should end with their input, and once in some times one
 * hangs (seen on 3.3a after a kill -9 of its owner): then it would stay attached for as long as the server lives.
 */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends every control client that was started with our configuration file and is no child of this process; the caller is
 * the only one that may have any. Returns their pids. Where the system has no /proc, none are found.
 */
export function endStaleClients(confPath: string): readonly number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  return pids.filter((pid) => isStale(pid, confPath) && endNow(pid))
}

/** Source: proc_pid_cmdline(5), proc_pid_stat(5). */
function isStale(pid: number, confPath: string): boolean {
  try {
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (!argv.includes(confPath) || !argv.includes('-C')) return false
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    return Number(parent) !== process.pid
  } catch (error) {
    // It has ended meanwhile, or is somebody else's.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

function endNow(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/**
 * Which processes belong to a private world: those that carry its folder in their command line or their environment,
 * as everything that was started in it does. Linux tells both; elsewhere the command lines have to do.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

export type FoundProcess = { readonly pid: number; readonly command: string }

const psLimitMs = 10_000

/** Ours is left out, and so are processes that have ended and wait to be reaped. */
export async function findProcesses(folder: string): Promise<readonly FoundProcess[]> {
  const found = process.platform === 'linux' ? await readProc(folder) : await readPs(folder)
  return found.filter(({ pid }) => pid !== process.pid)
}

async function readProc(folder: string): Promise<readonly FoundProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [command, environment] = await Promise.all([
        readIfAllowed(`/proc/${pid}/cmdline`),
        readIfAllowed(`/proc/${pid}/environ`),
      ])
      const isOurs = command !== '' && (command.includes(folder) || environment.includes(folder))
      return isOurs ? [{ pid: Number(pid), command: command.replaceAll('\0', ' ').trim() }] : []
    }),
  )
  return found.flat()
}

/** Empty for a process that is gone or that belongs to somebody else. */
async function readIfAllowed(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(String(error.code))
    ) {
      return ''
    }
    throw error
  }
}

function readPs(folder: string): Promise<readonly FoundProcess[]> {
  return new Promise((resolve, reject) => {
    execFile(
      'ps',
      ['-axww', '-o', 'pid=,command='],
      { timeout: psLimitMs, maxBuffer: 64 * 1024 * 1024 },
      (error, out) => {
        if (error !== null) return reject(error)
        const lines = out.split('\n').filter((line) => line.includes(folder))
        resolve(
          lines.map((line) => {
            const [, pid = '0', command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
            return { pid: Number(pid), command }
          }),
        )
      },
    )
  })
}

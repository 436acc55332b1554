/**
 * One set-up at a time per checkout. The lock is a folder that holds one file named after its owner; it appears with
 * the file already inside, by a rename (which fails on a folder that is not empty, and succeeds on an empty one).
 * A stale lock is taken over by deleting exactly the dead owner's file: whoever then renames first has it, and nobody
 * can remove the lock of somebody alive. The file's content names the tool that the owner is running (npm, apt-get), because a
 * tool goes on when its owner is killed: the lock is stale when both are gone.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cacheFolder, Refusal, say } from '../project.mjs'

const lockFolder = join(cacheFolder, 'setup.lock')
const waitLimitMs = 20 * 60_000
const pollMs = 100

let heldBy

/** Runs `body` while no other process does set-up in this checkout; waits at most 20 minutes for its turn. */
export async function withSetupLock(body) {
  const owner = identify(process.pid)
  await acquire(owner)
  heldBy = owner
  try {
    return await body()
  } finally {
    heldBy = undefined
    release(owner)
  }
}

/** Says in the lock that process `pid` works under it. */
export function noteTool(pid) {
  if (heldBy !== undefined) writeFileSync(join(lockFolder, heldBy), identify(pid))
}

async function acquire(owner) {
  mkdirSync(cacheFolder, { recursive: true })
  const deadline = Date.now() + waitLimitMs
  let told = false
  while (!tryTake(owner)) {
    const holder = readHolder()
    if (holder !== undefined && !isAlive(holder) && !isAlive(readTool(holder))) {
      rmSync(join(lockFolder, holder), { force: true })
      continue
    }
    if (holder !== undefined && !told) say(`set-up: waiting for the set-up that process ${pidOf(holder)} does …`)
    told ||= holder !== undefined
    if (Date.now() > deadline) {
      throw new Refusal(`Set-up gave up: process ${pidOf(holder ?? '')} has held ${lockFolder} for 20 minutes.`)
    }
    await sleep(pollMs)
  }
}

function tryTake(owner) {
  const candidate = mkdtempSync(join(cacheFolder, 'setup.lock.'))
  writeFileSync(join(candidate, owner), '')
  try {
    renameSync(candidate, lockFolder)
    return true
  } catch (error) {
    rmSync(candidate, { recursive: true, force: true })
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
    throw error
  }
}

function release(owner) {
  rmSync(join(lockFolder, owner), { force: true })
  try {
    rmdirSync(lockFolder)
  } catch (error) {
    // The next owner took the empty folder, or took it and is done.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  }
}

function readHolder() {
  try {
    return readdirSync(lockFolder)[0]
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function readTool(holder) {
  try {
    return readFileSync(join(lockFolder, holder), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return ''
    throw error
  }
}

function identify(pid) {
  return `${pid}-${startTime(pid) ?? 'unknown'}`
}

function pidOf(holder) {
  return Number(holder.split('-')[0])
}

function isAlive(identity) {
  if (identity === '') return false
  const [pid, startedAt] = identity.split('-')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  const now = startTime(Number(pid))
  if (now === 'ended') return false
  return now === undefined || startedAt === 'unknown' || now === startedAt
}

/**
 * When a process started, in the kernel's ticks, so that a pid used again is told apart. `ended` for one that only waits
 * to be reaped; undefined where /proc is not.
 */
function startTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : fields[19]
  } catch {
    return undefined
  }
}

/**
 * One set-up at a time per checkout. The lock is a folder that holds one file named after its owner; it appears with
 * the file already inside, by a rename (which fails on a folder that is not empty, and succeeds on an empty one).
 * A stale lock is taken over by deleting exactly the dead owner's file: whoever then renames first has it, and nobody
 * can remove the lock of somebody alive.
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

/** Runs `body` while no other process does set-up in this checkout; waits at most 20 minutes for its turn. */
export async function withSetupLock(body) {
  const owner = `${process.pid}-${startTime(process.pid) ?? 'unknown'}`
  await acquire(owner)
  try {
    return await body()
  } finally {
    release(owner)
  }
}

async function acquire(owner) {
  mkdirSync(cacheFolder, { recursive: true })
  const deadline = Date.now() + waitLimitMs
  let told = false
  while (!tryTake(owner)) {
    const holder = readHolder()
    if (holder !== undefined && !isAlive(holder)) {
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

function pidOf(holder) {
  return Number(holder.split('-')[0])
}

function isAlive(holder) {
  const [pid, startedAt] = holder.split('-')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  const now = startTime(Number(pid))
  return now === undefined || startedAt === 'unknown' || now === startedAt
}

/** When a process started, in the kernel's ticks, so that a pid used again is told apart. Undefined where /proc is not. */
function startTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/**
 * Who reads a file of the home and writes it again does so alone: two commands at once, or a command and the server, would
 * else lose one of two changes. The lock is SQLite's on a file of its own, which the kernel frees however its holder ends.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { HomeLayout } from '../protocol/home.ts'

/** A change takes a few ms. Units: ms. */
export const fileLockLimitMs = 10_000
const retryMs = 10

/** Whose files, and by whose time one waits for them. */
export type HomeFiles = {
  readonly layout: Pick<HomeLayout, 'filesLock' | 'settingsFile' | 'envFile' | 'skillsDir'>
  readonly clock: Clock
}

/** Runs `change` while nobody else changes files of this home. Errors: TIMEOUT, BAD_REQUEST, and those of `change`. */
export async function whileLocked<T>({ layout, clock }: HomeFiles, change: () => Promise<T>): Promise<T> {
  const path = layout.filesLock
  using database = openLock(path)
  const endMs = clock.monotonicMs() + fileLockLimitMs
  while (!tryLock(database)) {
    if (clock.monotonicMs() >= endMs) {
      const sentence = `another command has been changing files of this home for ${fileLockLimitMs / 1_000} s (${path}); try again`
      throw new AppError('TIMEOUT', sentence)
    }
    await sleep(clock, retryMs)
  }
  return await change()
}

function openLock(path: string): DatabaseSync {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    return new DatabaseSync(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('BAD_REQUEST', `${path} can not be written: ${why}`, { cause })
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return false
    throw error
  }
}

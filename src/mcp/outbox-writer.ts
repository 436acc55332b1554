/** Puts a message aside while the server is down: one file, complete or absent, readable by its owner only. */
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { isOutboxFile, type OutboxMessage, outboxFileName, outboxFilesMax } from '../protocol/outbox.ts'

/** Errors: QUEUE_FULL when `outboxFilesMax` files wait; STORAGE_FULL, INTERNAL when it can not be written. */
export async function writeOutbox(dir: string, message: OutboxMessage): Promise<void> {
  const draft = join(dir, `.${message.uuid}.tmp`)
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const waiting = (await readdir(dir)).filter(isOutboxFile).length
    if (waiting >= outboxFilesMax) {
      throw new AppError('QUEUE_FULL', `the server is down and ${waiting} messages wait for it already`)
    }
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(JSON.stringify(message))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(dir, outboxFileName(message.uuid)))
  } catch (error) {
    await unlink(draft).catch(() => undefined)
    if (error instanceof AppError) throw error
    const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'STORAGE_FULL' : 'INTERNAL'
    const sentence = `the server is down and the message could not be put aside: ${(error as Error).message}`
    throw new AppError(code, sentence, { cause: error })
  }
}

/** A file of the home that a person keeps: read bounded, written whole or not at all, for its owner's eyes only. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../domain/errors.ts'

/** Undefined: there is none. Errors: BAD_REQUEST for what is no file, or can not be read; TOO_LARGE. */
export async function readPrivateFile(path: string, bytesMax: number): Promise<string | undefined> {
  // Not blocking: a named pipe with this name must not hold us.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new AppError('BAD_REQUEST', `${path} can not be read: ${(error as Error).message}`, { cause: error })
  })
  if (file === undefined) return undefined
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new AppError('BAD_REQUEST', `${path} is no file`)
    if (stat.size > bytesMax) throw new AppError('TOO_LARGE', `${path} has more than ${bytesMax} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Never over a file that is there. Errors: STORAGE_FULL, BAD_REQUEST. */
export function createPrivateFile(path: string, content: string): Promise<'created' | 'exists'> {
  return placePrivateFile(path, content, async (fresh) => {
    try {
      // A link takes no other's place, and the file is whole from the first moment on.
      await link(fresh, path)
      return 'created'
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return 'exists'
    } finally {
      await unlink(fresh)
    }
  })
}

/** In the place of what is there. Errors: STORAGE_FULL, BAD_REQUEST. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await placePrivateFile(path, content, (fresh) => rename(fresh, path))
}

async function placePrivateFile<T>(path: string, content: string, place: (fresh: string) => Promise<T>): Promise<T> {
  const fresh = `${path}.${randomBytes(4).toString('hex')}.new`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(fresh, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    return await place(fresh)
  } catch (error) {
    await unlink(fresh).catch(() => undefined)
    const { code, message } = error as NodeJS.ErrnoException
    throw new AppError(code === 'ENOSPC' ? 'STORAGE_FULL' : 'BAD_REQUEST', `${path} can not be written: ${message}`, {
      cause: error,
    })
  }
}

/**
 * Programs from npm that are a script for Node. Which Node the person's PATH has is not ours to know, and it may be too old
 * for them: they run on the one that CAO itself runs on. A program of another kind runs as it is.
 */
import { open } from 'node:fs/promises'

const headBytes = 128
const nodeLine = /^#!.*\bnode\b/

/** The beginning of the argv that starts `program`. Errors: none; what can not be read runs as it is. */
export async function argvOfProgram(program: string): Promise<readonly string[]> {
  return nodeLine.test(await readHead(program)) ? [process.execPath, program] : [program]
}

async function readHead(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? ''
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

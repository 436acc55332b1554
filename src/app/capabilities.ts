/**
 * One secret per agent, by which it acts as itself and as nobody else. The agent is told the path of a 0600
 * file, never the token; the server keeps the pairs in memory and reads the files again at its start. Looked up by their digest,
 * so that the time of a look-up tells nothing of a token.
 */
import { createHash } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RandomHex, TerminalId } from '../domain/ids.ts'

const fileName = 'capability'
const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64')

export class Capabilities {
  readonly #byDigest = new Map<string, TerminalId>()

  /** Makes the file and remembers its token. Returns the path. */
  async issue(terminalDir: string, id: TerminalId, random: RandomHex): Promise<string> {
    const path = join(terminalDir, fileName)
    const token = random(48)
    await writeFile(path, token, { mode: 0o600 })
    await chmod(path, 0o600)
    this.#byDigest.set(digestOf(token), id)
    return path
  }

  /** Takes up the file of a terminal that outlived the last server; false when there is none. */
  async load(terminalDir: string, id: TerminalId): Promise<boolean> {
    try {
      const token = (await readFile(join(terminalDir, fileName), 'utf8')).trim()
      if (token === '') return false
      this.#byDigest.set(digestOf(token), id)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  }

  revoke(id: TerminalId): void {
    for (const [digest, owner] of this.#byDigest) if (owner === id) this.#byDigest.delete(digest)
  }

  find(token: string): TerminalId | undefined {
    return this.#byDigest.get(digestOf(token))
  }
}

/**
 * What a terminal's row says, as a file in the terminal's own folder: should the database be lost, the pane and this file are
 * enough to take the agent in again. Nothing reads it while the row is there. No secret is in it, as in the row.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { Log } from '../lib/log.ts'
import type { NewTerminal } from '../store/store.ts'

const recordPath = (terminalDir: string): string => join(terminalDir, 'terminal.json')

/** Complete or not at all; at once, so that the last one stays. Errors: none, an agent does not depend on it. */
export function saveRecord(terminalDir: string, terminal: Terminal | undefined, log: Log): void {
  if (terminal === undefined) return
  const path = recordPath(terminalDir)
  try {
    writeFileSync(`${path}.new`, JSON.stringify(terminal), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    log.write('warn', 'record of the terminal not saved', { error: String(error) })
  }
}

/** Undefined where there is none, or none of this terminal. What the file lacks is undefined, as in an older version's. */
export async function loadRecord(terminalDir: string, id: TerminalId): Promise<NewTerminal | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(recordPath(terminalDir), 'utf8'))
    const isOurs = typeof value === 'object' && value !== null && 'id' in value && value.id === id
    return isOurs ? (value as NewTerminal) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

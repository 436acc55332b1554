/** The files of one terminal under CAO_HOME: made at its launch, removed with it. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TerminalId } from '../domain/ids.ts'
import type { HomeLayout } from '../protocol/home.ts'

export type TerminalDirs = {
  readonly dir: string
  /** Generated settings of the agent's CLI. */
  readonly privateDir: string
  /** Hook events, one file each. */
  readonly spoolDir: string
  /** Made by CAO's MCP server when its agent's program has connected to it. */
  readonly toolsFile: string
  /** What the person would have seen last, kept after the agent's end. */
  readonly lastScreenFile: string
  /** Its exact last answer, kept after its end. */
  readonly lastAnswerFile: string
}

export function terminalDirs(layout: HomeLayout, id: TerminalId): TerminalDirs {
  const dir = join(layout.terminalsDir, id)
  return {
    dir,
    privateDir: join(dir, 'private'),
    spoolDir: join(dir, 'spool'),
    toolsFile: join(dir, 'tools-connected'),
    lastScreenFile: join(dir, 'last-screen.txt'),
    lastAnswerFile: join(dir, 'last-answer.txt'),
  }
}

/** Where the body of a message stands that is too long to be typed. Pure. */
export function messageFile({ privateDir }: Pick<TerminalDirs, 'privateDir'>, token: string): string {
  return join(privateDir, 'messages', `${token}.txt`)
}

/** Whole or not at all, for the owner alone. */
export async function writeMessageFile(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(`${path}.part`, body, { mode: 0o600 })
  await rename(`${path}.part`, path)
}

export async function createTerminalDirs(dirs: TerminalDirs): Promise<void> {
  await mkdir(dirs.privateDir, { recursive: true, mode: 0o700 })
  await mkdir(dirs.spoolDir, { recursive: true, mode: 0o700 })
}

export async function removeTerminalDirs(dirs: TerminalDirs): Promise<void> {
  await rm(dirs.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

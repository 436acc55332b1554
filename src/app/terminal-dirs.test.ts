import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TerminalId } from '../domain/ids.ts'
import type { HomeLayout } from '../protocol/home.ts'
import { createTerminalDirs, messageFile, removeTerminalDirs, terminalDirs, writeMessageFile } from './terminal-dirs.ts'

test('the body of a message stands in the folder of its receiver, for its owner alone, and goes with it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cao-dirs-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const dirs = terminalDirs({ terminalsDir: home } as HomeLayout, '1a2b3c4d' as TerminalId)
  await createTerminalDirs(dirs)
  const file = messageFile(dirs, '0123456789ab')
  await writeMessageFile(file, 'long')
  await writeMessageFile(file, 'longer')
  expect(readFileSync(file, 'utf8')).toBe('longer')
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
  await removeTerminalDirs(dirs)
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined()
})

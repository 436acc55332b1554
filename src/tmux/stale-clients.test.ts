import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endStaleClients } from './stale-clients.ts'

test('what a dead owner left is ended; our own child, and what only looks alike, is not', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cao-stale-'))
  const conf = join(dir, 'tmux.conf')
  const sleeper = ['-e', 'setTimeout(() => undefined, 30_000)', '--', '-f', conf, '-C']
  const own = spawn(process.execPath, sleeper, { stdio: 'ignore' })
  // A shell that ends at once and leaves its child behind, as a killed owner does.
  const script = '"$@" >/dev/null 2>&1 & echo $!'
  const left = (words: readonly string[]) =>
    new Promise<number>((resolve) => {
      const shell = spawn('sh', ['-c', script, 'sh', process.execPath, ...words], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let out = ''
      shell.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      shell.once('close', () => resolve(Number(out)))
    })
  const stale = await left(sleeper)
  const other = await left(['-e', 'setTimeout(() => undefined, 30_000)', '--', '-f', join(dir, 'another.conf'), '-C'])
  try {
    await expect.poll(() => endStaleClients(conf), { timeout: 5_000 }).toEqual([stale])
    await expect.poll(() => endStaleClients(conf)).toEqual([])
    expect([own.exitCode, process.kill(other, 0)]).toEqual([null, true])
  } finally {
    own.kill('SIGKILL')
    process.kill(other, 'SIGKILL')
    rmSync(dir, { recursive: true })
  }
})

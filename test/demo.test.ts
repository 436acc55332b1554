/** `npm run demo` as a newcomer runs it: the built program, its last line, and nothing left. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProcesses } from '../src/world/find-processes.ts'

const root = join(import.meta.dirname, '..')
let temp: string

beforeEach(() => {
  temp = mkdtempSync(join(tmpdir(), 'cao-dt-'))
})
afterEach(() => rmSync(temp, { recursive: true, force: true }))

function startDemo(args: readonly string[] = []) {
  const child = spawn(process.execPath, [join(root, 'dist', 'demo.mjs'), ...args], {
    env: { ...process.env, TMPDIR: temp },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const ended = new Promise<{ code: number | null; lines: readonly string[] }>((resolve) => {
    child.once('close', (code) => resolve({ code, lines: out.trimEnd().split('\n') }))
  })
  return { child, ended, said: () => out }
}

test('the team does its work, the last line says so, and nothing is left', async () => {
  const { code, lines } = await startDemo().ended
  expect(lines.at(-1)).toBe('demo: ok')
  expect(code).toBe(0)
  const text = lines.join('\n')
  for (const sentence of [
    /assigns a task to a developer/,
    /hands a task off to/,
    /proof: /,
    /\| Parts A and B have 200 lines together\./,
  ]) {
    expect(text).toMatch(sentence)
  }
  expect(readdirSync(temp)).toEqual([])
  expect(await findProcesses(temp)).toEqual([])
})

test('a demo that is interrupted ends everything, says that it failed and keeps the logs', async () => {
  const demo = startDemo()
  await expect.poll(demo.said, { timeout: 20_000 }).toMatch(/assigns a task/)
  demo.child.kill('SIGINT')
  const { code, lines } = await demo.ended
  expect([code, lines.at(-1)]).toEqual([130, 'demo: failed: interrupted'])
  expect(lines.at(-2)).toMatch(/^The logs are kept: /)
  expect(await findProcesses(temp)).toEqual([])
})

/** A short chaos run on Linux: the built program as a person starts it, seed 1. The long ones are `npm run chaos`. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, '..', 'dist', 'chaos.mjs')
const runLimitMs = 240_000

test(
  'half a minute of faults loses nothing, doubles nothing, claims nothing false and leaves nothing behind',
  async () => {
    const args = [program, '--seed', '1', '--minutes', '0.5', '--agents', '6']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
    const code = await new Promise((resolve) => child.once('close', resolve))
    const found = out.split('\n').find((line) => line.startsWith('{"chaos":1,'))
    expect(code, out).toBe(0)
    const result = JSON.parse(found ?? '{}') as { faults: Record<string, number>; surviving_pairs: number }
    expect(result).toMatchObject({
      seed: 1,
      lost: 0,
      doubled: 0,
      false: 0,
      misplaced: 0,
      out_of_order: 0,
      bad_jobs: 0,
      bad_answers: 0,
      died: 0,
      left_behind: 0,
      faults: { 'tmux-kill': 1 },
    })
    // How many of the planned ones fit into the time is the machine's business.
    expect(Object.keys(result.faults).length).toBeGreaterThanOrEqual(6)
    expect(result.surviving_pairs).toBeGreaterThan(20)
  },
  runLimitMs,
)

/**
 * What processes cost, by /proc: the processor time of one, and whether any of several has started another meanwhile.
 * Linux only, as the benches that ask.
 */
import { readFileSync } from 'node:fs'

/** Units of /proc/PID/stat: 100 a second on every Linux that runs Node. */
const ticksPerSecond = 100

type Stat = { readonly cpuMs: number; readonly childFaults: number }

/** Undefined: the process is gone. */
function readStat(pid: number): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
  // The name of the program stands in brackets and may hold anything; fields are counted from behind it (proc(5)).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return { cpuMs: ((field(14) + field(15)) * 1_000) / ticksPerSecond, childFaults: field(11) }
}

/** Shares of one core that each process took between the call and the call of what is returned. */
export function startCpuWatch<Name extends string>(pids: Readonly<Record<Name, number>>): () => Record<Name, number> {
  const beforeMs = performance.now()
  const names = Object.keys(pids) as Name[]
  const read = (name: Name) => readStat(pids[name])?.cpuMs ?? Number.NaN
  const before = new Map(names.map((name) => [name, read(name)]))
  return () => {
    const tookMs = performance.now() - beforeMs
    const share = (name: Name) => (read(name) - (before.get(name) ?? Number.NaN)) / tookMs
    return Object.fromEntries(names.map((name) => [name, share(name)])) as Record<Name, number>
  }
}

/**
 * Page faults of children that have ended and were waited for. Every program that runs has some, so a process whose figure
 * stays the same has started none that ended.
 */
export const readChildFaults = (pids: readonly number[]): ReadonlyMap<number, number> =>
  new Map(pids.flatMap((pid) => [[pid, readStat(pid)?.childFaults ?? -1] as const]))

/**
 * How busy the machine was meanwhile: how late a timer fires, and how long a program that does nothing takes. Whoever finds a goal
 * missed sees here whether there was room to meet it.
 */
import { execFile } from 'node:child_process'
import { systemClock } from '../../src/async/clock-system.ts'
import { sleep } from '../../src/async/wait.ts'
import { quantile, round } from './measure.ts'

const everyMs = 250

export type MachineFigures = { readonly timer_late_p95_ms: number; readonly program_p95_ms: number }

/** Runs until what is returned is called. */
export function startMachineProbe(): () => Promise<MachineFigures> {
  const late: number[] = []
  const took: number[] = []
  const controller = new AbortController()
  const running = (async () => {
    while (!controller.signal.aborted) {
      const beforeMs = performance.now()
      await sleep(systemClock, everyMs)
      const timerMs = performance.now()
      late.push(timerMs - beforeMs - everyMs)
      await new Promise((resolve) => execFile('sh', ['-c', ':'], resolve))
      took.push(performance.now() - timerMs)
    }
  })()
  return async () => {
    controller.abort()
    await running
    const p95 = (values: readonly number[]) => round(quantile({ sortedMs: values.toSorted((a, b) => a - b) }, 0.95), 1)
    return { timer_late_p95_ms: p95(late), program_p95_ms: p95(took) }
  }
}

/**
 * Paste buffers of ours that nobody deletes any more. A capture and a paste delete theirs in the same line of commands,
 * but the end of our process or of the control client can cut that line short, and a buffer holds what was on a screen
 * or what was about to be typed.
 */
import { type Runner, replyText } from './runner.ts'

/** No line of ours is at work this long. Units: s. */
export const strayAfterS = 30

/** Deletes our buffers that are older than that; gives how many there were. What can not be done now is done at the next call. */
export async function deleteStrayBuffers(runner: Runner, nowMs: number): Promise<number> {
  const listed = await runner.run("list-buffers -F '#{buffer_created} #{buffer_name}'")
  if (listed.kind !== 'replied') return 0
  const [first] = listed.replies
  if (first?.ok !== true) return 0
  const strays = replyText(first)
    .split('\n')
    .flatMap((line) => {
      const [, createdS = '', name] = /^(\d+) (cao-probe|cao-n[0-9a-f]{10}x[0-9a-z]+)$/.exec(line) ?? []
      return name !== undefined && nowMs / 1000 - Number(createdS) > strayAfterS ? [name] : []
    })
  for (const name of strays) await runner.run(`delete-buffer -b ${name}`)
  return strays.length
}

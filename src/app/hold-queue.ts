/** A queue that a person has stopped: nothing is typed into that agent until a person releases it, or types themselves. */
import type { TerminalId } from '../domain/ids.ts'
import type { AppContext } from './context.ts'
import type { CoreContext } from './core-context.ts'

export type HoldContext = CoreContext & Pick<AppContext, 'runtimes'>

/** Nothing happens where it is held already. */
export function holdQueue(
  context: HoldContext,
  id: TerminalId,
  { by, why }: { readonly by: string; readonly why: string },
): void {
  const { store, clock, events } = context
  const atMs = clock.nowMs()
  const event = store.transaction(() => {
    if (!store.holds.set(id, { by, why, atMs })) return undefined
    return store.events.append({ type: 'terminal.held', terminalId: id, by, detail: why }, atMs)
  })
  if (event === undefined) return
  events.announce(event)
  context.runtimes.get(id)?.worker.wake()
}

/** Nothing happens where it is not held. */
export function releaseQueue(context: HoldContext, id: TerminalId, by: string): void {
  const { store, clock, events } = context
  const event = store.transaction(() => {
    if (!store.holds.clear(id)) return undefined
    return store.events.append({ type: 'terminal.released', terminalId: id, by }, clock.nowMs())
  })
  if (event === undefined) return
  events.announce(event)
  context.runtimes.get(id)?.worker.wake()
}

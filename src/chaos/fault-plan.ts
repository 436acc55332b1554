/**
 * What goes wrong when, and to whom: a pure function of the seed, so that a run that failed can be planned again. Targets
 * are slots (the third agent, whoever that is by then), never ids, since ids are the run's own.
 *
 * Most faults come from a deck that is shuffled and dealt to its end before it is shuffled again: a run of some minutes
 * meets all of them. The death of tmux takes every agent with it, so it stands apart, at fixed distances.
 */
import { Random } from './random.ts'

export const faultKinds = [
  'server-kill',
  'server-term',
  'server-freeze',
  'control-kill',
  'control-freeze',
  'agent-kill',
  'agent-freeze',
  'sink-kill',
  'sink-freeze',
  'tmux-freeze',
  'tmux-freeze-server-kill',
  'tmux-kill',
  'pane-split',
  'window-rename',
  'copy-mode',
  'disk-full',
] as const
export type FaultKind = (typeof faultKinds)[number]

export type Fault = {
  /** After the beginning of the traffic; a fault waits for the end of the one before it. */
  readonly atMs: number
  readonly kind: FaultKind
  /** Which agent, where one is meant. */
  readonly slot: number
  /** How long it lasts, where it does. */
  readonly lastsMs: number
  /** One of several ways to do it. */
  readonly variant: number
}

const deck: readonly FaultKind[] = [
  'server-kill',
  'server-kill',
  'server-term',
  'server-freeze',
  'control-kill',
  'control-kill',
  'control-freeze',
  'agent-kill',
  'agent-freeze',
  'agent-freeze',
  'sink-kill',
  'sink-kill',
  'sink-freeze',
  'tmux-freeze',
  'tmux-freeze-server-kill',
  'pane-split',
  'window-rename',
  'copy-mode',
  'copy-mode',
  'disk-full',
]

/** Of the longest fault of its kind; the others last from a tenth of it. */
const lastsMaxMs: Readonly<Partial<Record<FaultKind, number>>> = {
  'server-kill': 1_500,
  'server-term': 1_000,
  'server-freeze': 6_000,
  'control-freeze': 8_000,
  'agent-freeze': 15_000,
  'sink-freeze': 6_000,
  'tmux-freeze': 12_000,
  'tmux-freeze-server-kill': 4_000,
  'disk-full': 5_000,
}
const gapMs = { least: 800, most: 4_000 }
const tmuxKillEveryMs = 240_000
/** Below this a run has one death of tmux, early enough for pairs that live on; */
const shortRunMs = 180_000
/** and below this faults last a third as long and come as much faster, so that it meets most of them. */
const hastyRunMs = 60_000
const hastyShare = 1 / 3
/** No fault begins this late: what it broke shall be seen working again under traffic. */
export const quietEndMs = 3_000

export type FaultPlanOptions = { readonly seed: number; readonly durationMs: number; readonly agents: number }

export function planFaults({ seed, durationMs, agents }: FaultPlanOptions): readonly Fault[] {
  const random = new Random(seed)
  const share = durationMs < hastyRunMs ? hastyShare : 1
  const faults: Fault[] = []
  const draw = (kind: FaultKind, atMs: number): Fault => {
    const mostMs = Math.round((lastsMaxMs[kind] ?? 0) * share)
    const lastsMs = mostMs === 0 ? 0 : random.whole(Math.round(mostMs / 10), mostMs)
    return { atMs, kind, slot: random.whole(0, agents - 1), lastsMs, variant: random.whole(0, 2) }
  }
  let killTmuxAtMs = durationMs < shortRunMs ? durationMs / 4 : tmuxKillEveryMs / 2
  let cards: FaultKind[] = []
  const drawGapMs = () => Math.round(random.whole(gapMs.least, gapMs.most) * share)
  for (let atMs = drawGapMs(); atMs < durationMs - quietEndMs; ) {
    if (atMs >= killTmuxAtMs) {
      faults.push(draw('tmux-kill', atMs))
      killTmuxAtMs = durationMs < shortRunMs ? Number.POSITIVE_INFINITY : killTmuxAtMs + tmuxKillEveryMs
    } else {
      if (cards.length === 0) cards = [...random.shuffle(deck)]
      faults.push(draw(cards.pop() ?? 'copy-mode', atMs))
    }
    atMs += (faults.at(-1)?.lastsMs ?? 0) + drawGapMs()
  }
  return faults
}

/** `cao doctor --repair-store`: the repair of the database, with the home locked so that no server runs meanwhile. */
import type { HomeLayout } from '../protocol/home.ts'
import type { StoreRepair } from '../protocol/store-repair.ts'
import { repairStore } from '../store/sqlite/repair.ts'
import { lockHome } from './home-lock.ts'

/** Errors: CONFLICT while a server runs, and what `repairStore` throws. */
export function repairHome(layout: HomeLayout): StoreRepair {
  using _lock = lockHome(layout)
  const repaired = repairStore(layout.dbFile)
  switch (repaired.kind) {
    case 'whole':
      return { kind: 'whole' }
    case 'emptied':
      return { kind: 'emptied', broken: repaired.broken ?? null }
    case 'restored':
      return {
        kind: 'restored',
        broken: repaired.broken ?? null,
        from: repaired.from.path,
        taken_at: new Date(repaired.from.takenAtMs).toISOString(),
        closed_messages: repaired.closedMessages,
        closed_jobs: repaired.closedJobs,
      }
  }
}

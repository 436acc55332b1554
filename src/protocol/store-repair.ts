/** What became of a damaged database, as `cao doctor --repair-store --json` prints it. */
export type StoreRepair =
  | { readonly kind: 'whole' }
  /** `broken`: where the damaged file is now; null when there was none. */
  | { readonly kind: 'emptied'; readonly broken: string | null }
  | {
      readonly kind: 'restored'
      readonly broken: string | null
      readonly from: string
      readonly taken_at: string
      readonly closed_messages: number
      readonly closed_jobs: number
    }

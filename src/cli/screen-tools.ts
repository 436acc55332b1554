/** What `cao rules` asks of the providers, which the command line itself does not know. Given by `main/`. */
import type { CaptureBody } from '../protocol/explain.ts'

export type ListedRule = {
  readonly name: string
  readonly priority: number
  readonly region: string
  readonly says: string
  readonly versions?: string
  readonly origin: string
}

export type RuleListing = {
  readonly provider: string
  readonly title: string
  readonly path: string
  readonly file: 'absent' | 'used' | 'faulty'
  readonly faults: readonly string[]
  readonly regions: readonly string[]
  readonly rules: readonly ListedRule[]
}

export type TryRequest = {
  readonly provider: string
  readonly files: readonly string[]
  readonly facts: {
    readonly title?: string
    readonly isAlternate?: boolean
    readonly cols?: number
    readonly rows?: number
  }
}

export type TriedScreen = {
  readonly file: string
  readonly status: string
  readonly reason: string
  readonly rule: string
  readonly region: string | undefined
  readonly text: string | undefined
  readonly origin: string | undefined
  readonly composer: string
}

export type RecordRequest = {
  readonly screen: CaptureBody
  readonly dir: string
  readonly name: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export interface ScreenTools {
  /** Errors: PROVIDER_UNKNOWN. */
  list(provider: string | undefined): Promise<readonly RuleListing[]>
  /** Errors: PROVIDER_UNKNOWN, VALIDATION for a rule file with faults, NOT_FOUND for a file. */
  try(request: TryRequest): AsyncIterable<TriedScreen>
  /** The paths of the files. Errors: BAD_REQUEST for a name, CONFLICT where there is such a recording. */
  record(request: RecordRequest): Promise<readonly string[]>
}

/** What is kept with a terminal of Gemini CLI, or of a program made from it, to find its conversations again. */
import type { Binding } from '../../domain/terminal.ts'

export type FamilyBinding = {
  /** The place of this agent alone in which the program keeps its conversations. */
  readonly recordsDir: string
  /** The program's id of the conversation. */
  readonly vendorSessionId: string | undefined
  /** How much of each record was taken in, by file name. Units: bytes. */
  readonly offsets: Readonly<Record<string, number>>
}

export function formatBinding({ recordsDir, vendorSessionId, offsets }: FamilyBinding): Binding {
  return { recordsDir, vendorSessionId: vendorSessionId ?? null, offsets: JSON.stringify(offsets) }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): FamilyBinding | undefined {
  const { recordsDir, vendorSessionId, offsets } = binding
  if (typeof recordsDir !== 'string') return undefined
  return {
    recordsDir,
    vendorSessionId: typeof vendorSessionId === 'string' ? vendorSessionId : undefined,
    offsets: typeof offsets === 'string' ? (JSON.parse(offsets) as Readonly<Record<string, number>>) : {},
  }
}

/** A random UUID, version 4. Source: RFC 9562 section 5.4. */
export function makeUuid(randomHex: (digits: number) => string): string {
  const variant = ((Number.parseInt(randomHex(1), 16) & 0b0011) | 0b1000).toString(16)
  return [randomHex(8), randomHex(4), `4${randomHex(3)}`, `${variant}${randomHex(3)}`, randomHex(12)].join('-')
}

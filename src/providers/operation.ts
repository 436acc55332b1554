/** What a permission prompt would do, read from its text by rules that are data. Pure. */
import type { Operation } from '../domain/status.ts'

/** The pattern's group `what` holds it. The first that matches counts. */
export type OperationRule = { readonly kind: Operation['kind']; readonly pattern: RegExp }

export function findOperation(rules: readonly OperationRule[], text: string): Operation | undefined {
  for (const { kind, pattern } of rules) {
    const what = pattern.exec(text)?.groups?.['what']?.trim()
    if (what !== undefined && what !== '') return { kind, what }
  }
  return undefined
}

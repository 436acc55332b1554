/** Raised by a broken invariant of ours: a bug, never the user's or the environment's fault. */
export class AssertionFault extends Error {
  override readonly name = 'AssertionFault'
}

/** Ends the operation when an invariant does not hold. Errors: AssertionFault. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFault(message)
}

/** Marks a branch that the types say can not be reached. Errors: AssertionFault. */
export function unreachable(value: never): never {
  throw new AssertionFault(`unreachable: ${JSON.stringify(value)}`)
}

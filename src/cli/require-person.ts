/** What changes the home or the server without asking the server: the routes refuse an agent the same, see `server/access.ts`. */
import { AppError } from '../domain/errors.ts'
import type { CliContext } from './command.ts'

/** Errors: FORBIDDEN inside an agent of CAO. */
export function requirePerson({ env }: Pick<CliContext, 'env'>): void {
  if ((env['CAO_TERMINAL_ID'] ?? '') === '') return
  throw new AppError('FORBIDDEN', 'only a person may do this, not an agent')
}

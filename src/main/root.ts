/** Where this installation lies: the folder with `bin/` and `profiles/`, seen from a bundle in dist/ and from src/main/ alike. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { existsSync } from '../cli/builtins.ts'

export function findRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const root = [dirname(here), dirname(dirname(here))].find((candidate) => existsSync(join(candidate, 'bin', 'cao')))
  return root ?? dirname(here)
}

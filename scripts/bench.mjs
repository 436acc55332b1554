/** `npm run bench -- NAME [--quick]`: set-up, then bench/NAME.ts under our Node, which strips the types itself. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { attach } from './process.mjs'
import { main, Refusal, root } from './project.mjs'
import { ensureSetup } from './setup.mjs'

const folder = join(root, 'bench')

await main(async () => {
  const [name, ...args] = process.argv.slice(2)
  if (name === undefined || !/^[a-z0-9-]+$/.test(name) || !existsSync(join(folder, `${name}.ts`))) {
    throw new Refusal(`Say which bench to run: npm run bench -- NAME [--quick], NAME one of: ${listNames()}.`)
  }
  return attach(await ensureSetup(), [join(folder, `${name}.ts`), ...args], { cwd: root })
})

function listNames() {
  const files = existsSync(folder) ? readdirSync(folder) : []
  const names = files.filter((file) => /^[a-z0-9-]+\.ts$/.test(file)).map((file) => file.slice(0, -3))
  return names.toSorted().join(', ') || '(none yet)'
}

/** `npm run openapi`: writes docs/openapi.json and the routes in docs/http.md anew, from the declarations in src/server/routes/. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main, Refusal, root, say } from './project.mjs'

await main(async () => {
  const { describeApi } = await import('../src/server/openapi.ts')
  const { replaceReference } = await import('../src/server/api-reference.ts')
  const { routes } = await import('../src/server/routes.ts')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const prose = join(root, 'docs', 'http.md')
  const text = replaceReference(readFileSync(prose, 'utf8'), routes)
  if (text === undefined) throw new Refusal('docs/http.md has lost the two marks between which the routes stand.')
  writeFileSync(prose, text)
  writeFileSync(join(root, 'docs', 'openapi.json'), `${JSON.stringify(describeApi(routes, version), undefined, 2)}\n`)
  say(`openapi: ${routes.length} routes written to docs/openapi.json and docs/http.md`)
})

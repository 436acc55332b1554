import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeStore } from '../conformance.case.ts'
import { openStore } from './open.ts'

describeStore('sqlite', {
  makePlace() {
    const folder = mkdtempSync(join(tmpdir(), 'cao-store-'))
    return { path: join(folder, 'cao.db'), remove: () => rmSync(folder, { recursive: true }) }
  },
  open: (path, options) => openStore(options?.isSmall === true ? { path, pagesMax: 400 } : { path }),
  writer: [process.execPath, fileURLToPath(new URL('./endless-writer.case.ts', import.meta.url))],
})

/** What an agent printed: its answer, its screen, slices of its log. */
import { outputQuery, outputRangeSchema, outputSchema, rangeQuery } from '../../protocol/output.ts'
import { clientWaiting } from '../context.ts'
import { terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const outputRoutes = [
  route({
    at: 'GET /terminals/:id/output',
    summary:
      'What an agent printed: all that its terminal keeps (`full`), its last answer (`last`), or its screen now (`screen`)',
    description:
      '`last` is the exact answer by the records of the agent where it keeps some; `source` says where it was read.',
    isUpstream: true,
    access: 'reach',
    errors: ['CONFLICT'],
    path: { id: terminalIdPart },
    params: outputQuery,
    answer: outputSchema,
    handle: async ({ app, c, services, path, params }) => {
      const { text, source, mode, isCurrent, isTruncated } = await app.readOutput(
        path.id,
        params.mode,
        clientWaiting(c, services),
      )
      return { output: text, mode, source, is_current: isCurrent, is_truncated: isTruncated }
    },
  }),
  route({
    at: 'GET /terminals/:id/output/range',
    summary: 'A slice of the output log, by bytes',
    description:
      '`next_offset` is where the next slice begins; a character is never cut. Empty text when there is no log or nothing behind `offset`.',
    isUpstream: true,
    access: 'reach',
    path: { id: terminalIdPart },
    params: rangeQuery,
    answer: outputRangeSchema,
    handle: async ({ app, path, params: { offset, length } }) => {
      const bytes = await app.readOutputRange(path.id, offset, length)
      const output = Buffer.from(bytes).toString('utf8')
      return { output, offset, length: bytes.length, next_offset: offset + bytes.length }
    },
  }),
]

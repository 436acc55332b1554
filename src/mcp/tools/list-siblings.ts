/** list_siblings: who else works on the same thing. */
import { z } from 'zod'
import { requireDiscovery } from '../discovery.ts'
import { defineTool } from '../tool.ts'

/** More would fill a conversation. */
const siblingsMax = 100

export const listSiblings = defineTool({
  name: 'list_siblings',
  title: 'List the agents of your group',
  description: [
    'Lists the other agents whose group begins as yours does, each with terminal id, group, metadata and status, so that you',
    'know whom to write to by `send_message` and do not start work that somebody has already. `depth` is how many leading',
    'elements of the group must be the same; all of them when left out. Only your own session, unless `cross_session`. Your',
    'profile must allow `discovery`. Workers that you have started are told to you by `handoff` and `assign`; you need not list them.',
  ].join(' '),
  input: {
    depth: z
      .number()
      .int()
      .min(1)
      .max(16)
      .optional()
      .describe('How many leading elements of the group must be the same'),
    cross_session: z.boolean().default(false).describe('Other sessions, too'),
  },
  async run({ depth, cross_session }, context) {
    await requireDiscovery(context)
    const { client, identity, signal } = context
    const query = { cross_session, ...(depth === undefined ? {} : { depth }) }
    const siblings = await client.listSiblings(identity.terminalId, query, { signal })
    const cut = siblings.length > siblingsMax ? { total: siblings.length, truncated: true } : {}
    return { success: true, siblings: siblings.slice(0, siblingsMax), ...cut }
  },
})

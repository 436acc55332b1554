/** update_metadata: what an agent tells of itself to those who list it. */
import { z } from 'zod'
import { requireDiscovery } from '../discovery.ts'
import { defineTool } from '../tool.ts'

export const updateMetadata = defineTool({
  name: 'update_metadata',
  title: 'Say what you are working on',
  description: [
    'Replaces your own metadata: a small JSON object (16 KiB at most) that other agents of your group see in `list_siblings`, such as',
    '{"task": "parser", "files": ["src/parse.ts"]}. Use it when what you are working on changes and others could collide with',
    'it. Nobody is notified by it: what somebody must know now is a `send_message`. Your profile must allow `discovery`.',
  ].join(' '),
  input: { metadata: z.record(z.string(), z.unknown()).describe('The whole of it; what is not in it is taken away') },
  async run({ metadata }, context) {
    await requireDiscovery(context)
    const { client, identity, signal } = context
    const updated = await client.setMetadata(identity.terminalId, metadata, { signal })
    return { success: true, terminal_id: updated.id, metadata: updated.metadata }
  },
})

/** find_profiles: which profile suits a task. */
import { z } from 'zod'
import { defineTool } from '../tool.ts'

export const findProfiles = defineTool({
  name: 'find_profiles',
  title: 'Find the profile for a task',
  description: [
    'Searches the agent profiles by words of a task ("review security", "write python tests") and lists the best, each with name,',
    'description, capabilities and tags. Use it before `handoff` or `assign` when you do not know which `agent_profile` to name;',
    'a name you know needs no search. No hit means that no profile says so of itself: try other words, or `developer`.',
  ].join(' '),
  input: {
    query: z.string().min(1).max(1_000).describe('Words of the task, not the whole task'),
    limit: z.number().int().min(1).max(100).default(10).describe('How many at most'),
  },
  async run({ query, limit }, { client, signal }) {
    const profiles = await client.searchProfiles(query, limit, { signal })
    return { success: true, profiles }
  },
})

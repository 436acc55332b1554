/** load_skill: the text of a skill that the agent's prompt has named. */
import { z } from 'zod'
import { defineTool } from '../tool.ts'

export const loadSkill = defineTool({
  name: 'load_skill',
  title: 'Load the text of a skill',
  description: [
    'Returns in `content` the instructions of a skill by its name, as listed under "Skills" in your prompt. Load one before you do',
    'what it is about, once; it stays in your conversation. Files that it names lie in `directory`. A wrong name is answered',
    'with those there are.',
  ].join(' '),
  input: { name: z.string().min(1).max(64).describe('Name of the skill, such as "cao-worker-protocols"') },
  async run({ name }, { client, signal }) {
    const skill = await client.getSkill(name, { signal })
    return { success: true, ...skill }
  },
})

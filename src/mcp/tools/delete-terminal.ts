/** delete_terminal: end a worker. */
import { defineTool } from '../tool.ts'
import { terminalId } from './arguments.ts'

export const deleteTerminal = defineTool({
  name: 'delete_terminal',
  title: 'End an agent',
  description: [
    'Ends another agent and closes its terminal, with whatever it is doing. Use it for workers that you assigned and',
    'that have given their answer. An agent that `handoff` started is closed by itself.',
  ].join(' '),
  input: { terminal_id: terminalId.describe('Terminal id of the agent to end') },
  async run({ terminal_id }, { client, signal }) {
    const { worktree } = await client.deleteTerminal(terminal_id, { signal })
    const closed = `terminal ${terminal_id} is closed`
    if (worktree === undefined) return { success: true, terminal_id, message: closed }
    const { path, branch, detail } = worktree
    const kept = `its worktree was kept (${detail ?? 'it holds work'}): ${path}, branch ${branch}`
    return { success: true, terminal_id, message: `${closed}; ${kept}`, worktree: { path, branch } }
  },
})

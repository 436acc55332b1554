/**
 * What the team is told. The lines that begin with a verb (`say`, `call`, `collect`, `wait`, `reply`) are rules that a
 * scripted agent or a scripted model obeys; a real model would get prose instead. Pure.
 */

export type TeamScript = {
  /** Typed to the supervisor. */
  readonly message: string
  /** Stand in the final answer when everybody did their part. */
  readonly parts: readonly string[]
  readonly assignCount: number
  readonly handoffCount: number
}

type Worker = { readonly profile: string; readonly task: string; readonly workMs: number; readonly answer: string }

const developers: readonly Worker[] = [
  { profile: 'developer', task: 'Count the lines of part A.', workMs: 1_500, answer: 'Part A has 120 lines.' },
  { profile: 'developer', task: 'Count the lines of part B.', workMs: 1_500, answer: 'Part B has 80 lines.' },
]
const reviewer: Worker = {
  profile: 'reviewer',
  task: 'Is it right to count blank lines too?',
  workMs: 1_000,
  answer: 'Yes, blank lines count.',
}

function delegation(tool: 'assign' | 'handoff', { profile, task, workMs, answer }: Worker): string {
  const message = `${task}\nwait ${workMs}\nreply ${answer}`
  return `call ${tool} ${JSON.stringify({ agent_profile: profile, message })}`
}

export function createTeamScript(): TeamScript {
  const lines = [
    'How many lines do parts A and B have together?',
    'say Two developers count side by side, and a reviewer answers a question in between.',
    ...developers.map((worker) => delegation('assign', worker)),
    delegation('handoff', reviewer),
    `collect ${developers.length}`,
    'reply Parts A and B have 200 lines together.\\n\\nThe developers:\\n{messages}\\n\\nThe reviewer:\\n{output}',
  ]
  return {
    message: lines.join('\n'),
    parts: ['200 lines together', ...[...developers, reviewer].map(({ answer }) => answer)],
    assignCount: developers.length,
    handoffCount: 1,
  }
}

/**
 * The dialogs of the start. Only one is answered by CAO itself: to trust the very directory that the person named, when it is
 * asked in exactly the words that we know. Where a directory brings tool servers of its own, the dialog lists them, and it is
 * the person's. Pure. Source: fixtures/2.1.0/screens.
 */
import type { Dialog } from '../provider.ts'
import type { Prompt } from './prompt.ts'

const trustBegin = 'Trust this folder?'
const trustEnd = [
  'Project-level MCP servers are disabled until you explicitly choose Trust.',
  'Trust starts the listed project MCP targets and remembers this folder.',
].join(' ')
const trustOptions = ['Trust this folder', "Don't trust"]

export function readStartDialog(prompt: Prompt, says: string): Dialog | undefined {
  if (says === 'login') return { reason: 'login', text: prompt.text, answer: undefined }
  return says === 'trust' ? readTrust(prompt) : undefined
}

function readTrust({ text, options, selected }: Prompt): Dialog {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => line.startsWith('Project-level MCP servers'))
  // A path that is wider than the screen goes on in the next row.
  const directory = lines.slice(1, Math.max(end, 1)).join('')
  const isKnown =
    lines[0] === trustBegin &&
    end > 1 &&
    lines.slice(end).join(' ') === trustEnd &&
    options.length === trustOptions.length &&
    options.every((option, at) => option === trustOptions[at]) &&
    selected === 0
  return { reason: 'trust', text, answer: isKnown ? [{ kind: 'key', name: 'Enter' }] : undefined, directory }
}

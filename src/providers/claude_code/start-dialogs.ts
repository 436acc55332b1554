/**
 * The dialogs of the start. Only one is answered by CAO itself: to trust the very directory that the person named, and only
 * when it is asked in exactly the words that we know, so that no warning is passed over. All others are the person's. Pure. Source: fixtures/2.1.332/screens.
 */
import type { Dialog, Key } from '../provider.ts'
import type { Prompt } from './prompt.ts'

const trustOptions = ['No, exit', 'Yes, I trust this folder']
const trustBegin = 'Accessing workspace:'
/** All that follows the directory. What a folder brings of its own (hooks, permissions, servers) is added to it, with a warning. */
const trustEnd = [
  'Quick safety check: Is this a project you created or one you trust?',
  '(Like your own code, a well-known open source project, or work from your team).',
  "If not, take a moment to review what's in this folder first.",
  "Claude Code'll be able to read, edit, and execute files here.",
  'Security guide',
].join(' ')
const trustEndBegin = 'Quick safety check:'
const keyBegin = 'Detected a custom API key in your environment'

export function readStartDialog(prompt: Prompt): Dialog | undefined {
  const lines = prompt.text.split('\n')
  if (lines[0] === trustBegin) return readTrust(prompt, lines)
  if (lines[0] === keyBegin) return { reason: 'login', text: prompt.text, answer: undefined }
  return undefined
}

function readTrust(prompt: Prompt, lines: readonly string[]): Dialog {
  const end = lines.findIndex((line) => line.startsWith(trustEndBegin))
  // A path that is wider than the screen goes on in the next row.
  const directory = lines.slice(1, Math.max(end, 1)).join('')
  const isKnown =
    end > 1 &&
    lines.slice(end).join(' ') === trustEnd &&
    prompt.options.length === trustOptions.length &&
    prompt.options.every((option, at) => option === trustOptions[at])
  return {
    reason: 'trust',
    text: prompt.text,
    answer: isKnown ? chooseFromList(prompt.selected, 1) : undefined,
    directory,
  }
}

export function chooseFromList(selected: number, wanted: number): readonly Key[] {
  const name = wanted >= selected ? 'Down' : 'Up'
  const steps = Array.from({ length: Math.abs(wanted - selected) }, (): Key => ({ kind: 'key', name }))
  return [...steps, { kind: 'key', name: 'Enter' }]
}

/**
 * The dialogs of the start. Only one is answered by CAO itself: to trust the very directory that the person named, for this run, when
 * it is asked in exactly the words that we know. Pure. Source: fixtures/1.0.102/screens.
 */
import type { Dialog } from '../provider.ts'
import type { Prompt } from './prompt.ts'

const trustBegin = 'Confirm folder trust'
const trustEnd = [
  'Copilot can read files in this folder and, with your permission, edit them',
  'or run code and shell commands. It will remember your permissions for the',
  'rest of this session.',
  'Do you trust the files in this folder?',
].join(' ')
const trustEndBegin = 'Copilot can read files'
const trustOptions = ['Yes', 'Yes, and remember this folder for future sessions', 'No (Esc)']

export function readStartDialog(prompt: Prompt, says: string): Dialog | undefined {
  if (says === 'login') return { reason: 'login', text: prompt.text, answer: undefined }
  return says === 'trust' ? readTrust(prompt) : undefined
}

function readTrust({ text, options }: Prompt): Dialog {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => line.startsWith(trustEndBegin))
  // A path that is wider than the screen goes on in the next row.
  const directory = lines.slice(1, Math.max(end, 1)).join('')
  const isKnown =
    lines[0] === trustBegin &&
    end > 1 &&
    lines.slice(end).join(' ') === trustEnd &&
    options.length === trustOptions.length &&
    options.every((option, at) => option === trustOptions[at])
  return { reason: 'trust', text, answer: isKnown ? [{ kind: 'text', text: '1' }] : undefined, directory }
}

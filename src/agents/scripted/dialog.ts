/** A question on the screen and the keys that answer it. Pure. */
import type { KeyEvent } from './terminal/keys.ts'
import type { DialogView } from './terminal/view.ts'

export type DialogKind = 'permission' | 'question' | 'trust'

export type Dialog = {
  readonly id: string
  readonly kind: DialogKind
  readonly text: string
  readonly options: readonly string[]
  /** The last option asks for a text; with no option a text is asked for at once. */
  readonly takesText: boolean
  readonly selected: number
  readonly input: string | undefined
}

export type DialogStep =
  | { readonly kind: 'open'; readonly dialog: Dialog }
  | { readonly kind: 'answered'; readonly answer: string; readonly index: number }
  | { readonly kind: 'rejected' }

export const otherOption = 'Something else (type it)'
export const permissionOptions = ['Yes', 'Yes, and do not ask again', 'No, and stop here'] as const

export function openDialog(question: {
  readonly id: string
  readonly kind: DialogKind
  readonly text: string
  readonly options: readonly string[]
}): Dialog {
  const takesText = question.kind === 'question'
  const options = takesText && question.options.length > 0 ? [...question.options, otherOption] : question.options
  return { ...question, options, takesText, selected: 0, input: options.length === 0 ? '' : undefined }
}

const titles = { permission: 'Permission', question: 'Question', trust: 'Trust' } as const

export function viewDialog(dialog: Dialog): DialogView {
  return { ...dialog, title: titles[dialog.kind] }
}

export function stepDialog(dialog: Dialog, event: KeyEvent): DialogStep {
  if (event.kind === 'paste') return type(dialog, event.text)
  if (event.kind === 'text') return takeText(dialog, event.text)
  switch (event.name) {
    case 'up':
    case 'down':
      return move(dialog, event.name === 'up' ? -1 : 1)
    case 'enter':
      return dialog.input === undefined ? choose(dialog, dialog.selected) : finishText(dialog)
    case 'escape':
    case 'C-c':
      return { kind: 'rejected' }
    case 'backspace':
      return {
        kind: 'open',
        dialog: dialog.input === undefined ? dialog : { ...dialog, input: dialog.input.slice(0, -1) },
      }
    case 'C-u':
      return { kind: 'open', dialog: dialog.input === undefined ? dialog : { ...dialog, input: '' } }
    case 'newline':
    case 'tab':
      return type(dialog, ' ')
    case 'left':
    case 'right':
    case 'C-d':
      return { kind: 'open', dialog }
  }
}

function move(dialog: Dialog, by: number): DialogStep {
  const count = dialog.options.length
  if (dialog.input !== undefined || count === 0) return { kind: 'open', dialog }
  return { kind: 'open', dialog: { ...dialog, selected: (dialog.selected + by + count) % count } }
}

/** Digits choose at once; what follows the digit of the last option is already its text. */
function takeText(dialog: Dialog, text: string): DialogStep {
  if (dialog.input !== undefined) return type(dialog, text)
  const digit = /^[1-9]/.exec(text)?.[0]
  if (digit === undefined || Number(digit) > dialog.options.length) return { kind: 'open', dialog }
  const step = choose(dialog, Number(digit) - 1)
  return step.kind === 'open' && text.length > 1 ? takeText(step.dialog, text.slice(1)) : step
}

function choose(dialog: Dialog, index: number): DialogStep {
  const answer = dialog.options[index]
  if (answer === undefined) return { kind: 'open', dialog }
  if (dialog.kind === 'permission' && index === permissionOptions.length - 1) return { kind: 'rejected' }
  if (dialog.takesText && index === dialog.options.length - 1) {
    return { kind: 'open', dialog: { ...dialog, selected: index, input: '' } }
  }
  return { kind: 'answered', answer, index }
}

function type(dialog: Dialog, text: string): DialogStep {
  return { kind: 'open', dialog: dialog.input === undefined ? dialog : { ...dialog, input: dialog.input + text } }
}

function finishText(dialog: Dialog): DialogStep {
  if (dialog.input === undefined || dialog.input.trim() === '') return { kind: 'open', dialog }
  return { kind: 'answered', answer: dialog.input, index: dialog.options.length - 1 }
}

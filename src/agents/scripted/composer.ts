/** The composer's own behaviour: what each key does to the draft, and the misbehaviours that concern it. */
import type { Clock } from '../../async/clock.ts'
import { addPaste, addTyped, type Draft, draftShown, draftText, emptyDraft, eraseLast } from './terminal/draft.ts'
import type { KeyEvent } from './terminal/keys.ts'

/** A second C-c within this time ends the program. Units: ms. */
export const exitWindowMs = 2_000

export type ComposerAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'submit'; readonly text: string }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'exit-asked' }
  | { readonly kind: 'exit' }

export type ComposerOptions = {
  readonly clock: Clock
  readonly swallowEnters: number
  readonly slowPaintMs: number
  /** Without bracketed paste a line feed submits, as in a program that reads lines. */
  readonly newlineSubmits: boolean
  readonly show: (draft: string) => void
}

const nothing: ComposerAction = { kind: 'none' }

export class ComposerBox {
  readonly #options: ComposerOptions
  #draft: Draft = emptyDraft
  #clearedAtMs: number | undefined
  swallowEnters: number
  slowPaintMs: number

  constructor(options: ComposerOptions) {
    this.#options = options
    this.swallowEnters = options.swallowEnters
    this.slowPaintMs = options.slowPaintMs
  }

  handle(event: KeyEvent): ComposerAction {
    if (event.kind !== 'key') {
      return this.#edit(event.kind === 'paste' ? addPaste(this.#draft, event.text) : addTyped(this.#draft, event.text))
    }
    switch (event.name) {
      case 'enter':
        return this.#submit()
      case 'newline':
        return this.#options.newlineSubmits ? this.#submit() : this.#edit(addTyped(this.#draft, '\n'))
      case 'tab':
        return this.#edit(addTyped(this.#draft, '\t'))
      case 'backspace':
        return this.#edit(eraseLast(this.#draft))
      case 'C-u':
        return this.#edit(emptyDraft)
      case 'C-c':
        return this.#clearOrExit()
      case 'C-d':
        return this.#draft.length === 0 ? { kind: 'exit' } : nothing
      case 'escape':
        return { kind: 'interrupt' }
      case 'up':
      case 'down':
      case 'left':
      case 'right':
        return nothing
    }
  }

  #edit(draft: Draft): ComposerAction {
    this.#draft = draft
    this.#show()
    return nothing
  }

  #submit(): ComposerAction {
    if (this.#draft.length === 0) return nothing
    if (this.swallowEnters > 0) {
      this.swallowEnters--
      return nothing
    }
    const text = draftText(this.#draft)
    this.#edit(emptyDraft)
    return { kind: 'submit', text }
  }

  #clearOrExit(): ComposerAction {
    const nowMs = this.#options.clock.monotonicMs()
    const isSecond = this.#clearedAtMs !== undefined && nowMs - this.#clearedAtMs < exitWindowMs
    if (isSecond && this.#draft.length === 0) return { kind: 'exit' }
    this.#clearedAtMs = nowMs
    this.#edit(emptyDraft)
    return { kind: 'exit-asked' }
  }

  #show(): void {
    const shown = draftShown(this.#draft)
    if (this.slowPaintMs === 0) return this.#options.show(shown)
    this.#options.clock.after(this.slowPaintMs, () => this.#options.show(shown))
  }
}

/** The answer of one turn as it is written: whole lines go to the conversation, the last one stays in sight. */
import type { HistoryLine } from './terminal/history.ts'

export type AnswerOptions = {
  readonly show: (lines: readonly HistoryLine[]) => void
  readonly showTail: (tail: string) => void
}

export class AnswerStream {
  readonly #options: AnswerOptions
  readonly #blocks: string[] = []
  #block = ''
  #tail = ''
  #isFirstLine = true

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  /** All that was said so far, blocks on lines of their own. */
  get text(): string {
    return (this.#block === '' ? this.#blocks : [...this.#blocks, this.#block]).join('\n')
  }

  write(chunk: string): void {
    this.#block += chunk
    const lines = (this.#tail + chunk).split('\n')
    this.#tail = lines.pop() ?? ''
    this.#options.show(lines.map((line) => this.#lineOf(line)))
    this.#options.showTail(this.#tail)
  }

  /** Ends a block; what follows begins a new one. Returns the block. */
  endBlock(): string {
    const block = this.#block
    if (block === '') return ''
    this.#options.show([this.#lineOf(this.#tail)])
    this.#options.showTail('')
    this.#blocks.push(block)
    this.#block = ''
    this.#tail = ''
    this.#isFirstLine = true
    return block
  }

  #lineOf(text: string): HistoryLine {
    const mark = this.#isFirstLine ? '● ' : '  '
    this.#isFirstLine = false
    return { mark, text, isDim: false }
  }
}

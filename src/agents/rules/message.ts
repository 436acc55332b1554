/** A delivered message: a header line that names sender and token, then the body that holds the rules. */
import type { Step } from './rules.ts'

const headerPattern = /^\s*\[cao [^\]\n]*\]\s*$/

/** The message without its header line; a message that has none is its own body. */
export function bodyOf(message: string): string {
  const at = message.indexOf('\n')
  const first = at < 0 ? message : message.slice(0, at)
  if (!headerPattern.test(first.replace(/\r$/, ''))) return message
  return at < 0 ? '' : message.slice(at + 1)
}

const digestPattern = /^\s*\[cao digest [^\]\n]*\]\s*$/

/** The messages that came in one: those of a digest, each without its header line, else the message itself. */
export function bodiesOf(message: string): readonly string[] {
  const [first = '', ...lines] = message.split(/\r\n|\r|\n/)
  const starts = lines.flatMap((line, at) => (headerPattern.test(line) ? [at] : []))
  if (!digestPattern.test(first) || starts.length === 0) return [bodyOf(message)]
  return starts.map((start, index) =>
    lines
      .slice(start + 1, starts[index + 1])
      .join('\n')
      .trimEnd(),
  )
}

/** What a message without rules is answered: friendly, and with its first line, so that the sender sees what arrived. */
export function echoOf(body: string): readonly Step[] {
  const first = body.split(/\r\n|\r|\n/).find((line) => line.trim() !== '') ?? ''
  return [{ verb: 'reply', rest: `You said: ${first.trim()}` }]
}

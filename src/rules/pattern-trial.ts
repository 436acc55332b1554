/**
 * Tries a pattern of a person on texts that make slow ones slow, within a time limit that ends it. What `screen/pattern.ts`
 * can not see by looking at the text is found here, before the pattern runs on the screen of an agent.
 */
import { Script } from 'node:vm'

/** For one text; a pattern that is fit for its work takes a hundredth of it. Units: ms. */
export const trialLimitMs = 50
/** Longer than any line of a screen. */
const textChars = 2_000
const charsMax = 16
/** On a busy machine a quick pattern may have to wait; a slow one is slow each time. */
const trialsMax = 3

const script = new Script('pattern.test(text)')

export function isQuick(pattern: RegExp): boolean {
  return makeTexts(pattern.source).every((text) => {
    for (let trial = 0; trial < trialsMax; trial++) if (endsInTime(pattern, text)) return true
    return false
  })
}

function endsInTime(pattern: RegExp, text: string): boolean {
  try {
    script.runInNewContext({ pattern, text }, { timeout: trialLimitMs })
    return true
  } catch (error) {
    if (isTimeout(error)) return false
    throw error
  }
}

/** It may come from another realm, and is then no Error of ours. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

/** Long repetitions of what the pattern names, each with an end that it does not expect. */
function makeTexts(source: string): readonly string[] {
  const named = [...new Set(source.replaceAll(/\\[dwsDWSbB]|[\^$.*+?()[\]{}|\\]/g, ''))].slice(0, charsMax)
  const words = [named.join(''), ...named, ' ', 'a', '0', '─'].filter((word) => word !== '')
  return words.map((word) => `${word.repeat(Math.ceil(textChars / word.length))}\u0001`)
}

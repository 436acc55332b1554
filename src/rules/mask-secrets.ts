/**
 * Takes secrets out of a recorded screen without moving anything on it: each is covered by as many asterisks. Known by the
 * value of a variable whose name says so, or by the shape of a key. Pure.
 */

const secretName = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH)/i
/** A shorter value would cover words that are none. */
const secretCharsMin = 6
const secretShapes =
  /\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abprs]|hf|AIza|AKIA|ya29)[-_.]?[A-Za-z0-9][A-Za-z0-9_\-.]{11,}|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?/g

/** `variables`: of the environment, and those that CAO gives to agents. */
export function maskSecrets(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  const values = Object.entries(variables).flatMap(([name, value = '']) =>
    secretName.test(name) && value.length >= secretCharsMin ? [value] : [],
  )
  // The longest first: one may be a part of another.
  const covered = values
    .toSorted((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, '*'.repeat(value.length)), text)
  return covered.replaceAll(secretShapes, (found) => '*'.repeat(found.length))
}

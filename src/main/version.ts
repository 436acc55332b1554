/** The version of this CAO, from the one place where it is written. */
import packageJson from '../../package.json' with { type: 'json' }

export const version: string = packageJson.version

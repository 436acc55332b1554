/** The version of this CAO. `version.test.ts` holds it equal to the one in package.json, which programs do not read. */
export const version = '0.1.0'

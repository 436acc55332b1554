declare const brandKey: unique symbol
/** A string or number that only its own maker may produce; `domain/ids.ts` holds the makers. */
export type Brand<T, Name extends string> = T & { readonly [brandKey]: Name }

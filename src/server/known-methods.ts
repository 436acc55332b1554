/** What a path takes: the difference between an unknown path (404) and a known one with another method (405). Pure. */
import type { Method, Route } from './route.ts'

/** Of one path as it stands in a request; empty for one that is no route. */
export type MethodsOf = (path: string) => readonly Method[]

export function createMethodsOf(routes: readonly Pick<Route, 'method' | 'pattern'>[]): MethodsOf {
  const known = routes.map(({ method, pattern }) => ({ method, shape: shapeOf(pattern) }))
  return (path) => known.filter(({ shape }) => shape.test(path)).map(({ method }) => method)
}

function shapeOf(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll(/\W/g, '\\$&')))
  return new RegExp(`^${parts.join('/')}$`)
}

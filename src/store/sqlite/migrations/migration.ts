/** One step of the schema. A module, not an .sql file, so that the bundle needs nothing beside itself. */
export type Migration = { readonly version: number; readonly sql: string }

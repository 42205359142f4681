import { z } from 'zod'

export type Json = Record<string, unknown>

/** Collects every schema that has an `id`, so that each is written once and referred to. */
export interface SchemaCollector {
  /** The JSON Schema of a request or response: a reference if the schema has an `id`. */
  schemaOf(schema: z.ZodType, direction: 'input' | 'output'): Json
  readonly components: Readonly<Record<string, Json>>
}

export const createSchemaCollector = (): SchemaCollector => {
  const components: Record<string, Json> = {}
  return {
    components,
    schemaOf(schema, direction) {
      // As a member, a schema with an id becomes a definition like all others.
      const { $defs = {}, properties = {} } = z.toJSONSchema(z.object({ root: schema }), {
        io: direction,
        override: ({ jsonSchema }) => dropInvented(jsonSchema),
      })
      for (const [name, definition] of Object.entries($defs)) {
        const { id: _id, ...component } = inOpenApi(definition as Json)
        components[name] = component
      }
      return inOpenApi(properties['root'] as Json)
    },
  }
}

/** Zod limits every integer to JavaScript's exact range, which clients do not need to know. */
const dropInvented = (schema: z.core.JSONSchema.BaseSchema): void => {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}

const definitions = '#/$defs/'

/** Definitions live under components in OpenAPI. */
const inOpenApi = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(definitions)
      ? `#/components/schemas/${value.slice(definitions.length)}`
      : value,
  ) as Json

import type { z } from 'zod'
import type { Operation } from '../define-operation.ts'
import { serviceVersions } from '../versions.ts'
import type { Json, SchemaCollector } from './schemas.ts'

/** Request headers that every operation takes (contract, "Endpoints"). */
export const commonParameters: Readonly<Record<string, Json>> = {
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    description: 'The version of the contract to apply; your organization’s default if omitted.',
    schema: { type: 'string', enum: serviceVersions },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Echoed in the answer. One of another shape is replaced, never refused.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,64}$' },
  },
  RequiredIdempotencyKey: idempotencyKey(true),
  OptionalIdempotencyKey: idempotencyKey(false),
}

function idempotencyKey(required: boolean): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required,
    description:
      'Makes the request safe to repeat for 24 hours: an equal one is answered from the store, another one is refused.',
    schema: { type: 'string', pattern: '^[!-~](?:[ -~]{0,253}[!-~])?$' },
    example: 'order-5531-reminder',
  }
}

/** Path, query and header parameters of one operation. */
export const parametersOf = (operation: Operation, collector: SchemaCollector): readonly Json[] => [
  ...membersOf(operation.params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    description: `Which ${name.replace(/_id$/, '').replaceAll('_', ' ')}.`,
    schema: collector.schemaOf(schema, 'input'),
  })),
  ...membersOf(operation.query).map(([name, schema]) => queryParameter(name, schema, collector)),
  { $ref: '#/components/parameters/ServiceVersion' },
  { $ref: '#/components/parameters/RequestId' },
  ...idempotencyParameter(operation),
]

const idempotencyParameter = ({ idempotency }: Operation): readonly Json[] => {
  if (idempotency === 'none') return []
  const name = idempotency === 'required' ? 'Required' : 'Optional'
  return [{ $ref: `#/components/parameters/${name}IdempotencyKey` }]
}

const queryParameter = (name: string, schema: z.ZodType, collector: SchemaCollector): Json => {
  // A number is digits on the wire; the schema says number because that helps clients.
  const { description, ...shape } = collector.schemaOf(schema, 'output')
  return {
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    description: description ?? `Only those with this \`${name}\`.`,
    schema: shape,
  }
}

const membersOf = (schema: z.ZodType): readonly (readonly [string, z.ZodType])[] =>
  Object.entries((schema as z.ZodObject<Record<string, z.ZodType>>).shape)

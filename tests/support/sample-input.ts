import { z } from 'zod'

/** What is sent for a member, where its name decides it; undefined: its schema does. */
export type NamedValue = (name: string) => unknown

interface Shape {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly minItems?: number
  readonly items?: Shape
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
}

/**
 * An input that fits a schema: its required members, and each that `named` knows. Rules over several members are not
 * seen: a schema that has some needs an input of its own.
 */
export const sampleInput = (schema: z.ZodType, named: NamedValue): unknown =>
  sampleOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape, named)

const sampleOf = (shape: Shape, named: NamedValue): unknown => {
  if ('const' in shape) return shape.const
  const [first] = shape.enum ?? shape.examples ?? []
  if (first !== undefined) return first
  const [choice] = shape.anyOf ?? shape.oneOf ?? []
  if (choice) return sampleOf(choice, named)
  const type = typeof shape.type === 'string' ? shape.type : shape.type?.[0]
  if (type === 'object') return membersOf(shape, named)
  if (type === 'array')
    return Array.from({ length: shape.minItems ?? 0 }, () => sampleOf(shape.items ?? {}, named))
  if (type === 'integer' || type === 'number') return shape.minimum ?? 1
  if (type === 'boolean') return true
  if (shape.format === 'date-time') return '2031-01-31T08:00:00Z'
  const least = 'x'.repeat(Math.max(1, shape.minLength ?? 1))
  if (shape.pattern === undefined) return least
  const pattern = new RegExp(shape.pattern, 'u')
  return [least, ...likelyTexts].find((text) => pattern.test(text)) ?? least
}

const inShape = (value: unknown, { type }: Shape): unknown => {
  if (type === 'array') return [value]
  return type === 'integer' || type === 'number' ? Number(value) : value
}

/** Texts for what a pattern may ask for. */
const likelyTexts = ['1', '+12025550177', 'guest@tenant.test', '09:00', '2031-01-31', 'US']

const membersOf = ({ properties = {}, required = [] }: Shape, named: NamedValue): object => {
  const members = Object.entries(properties).flatMap(([name, shape]) => {
    const value = named(name)
    if (value !== undefined) return [[name, inShape(value, shape)]]
    return required.includes(name) ? [[name, sampleOf(shape, named)]] : []
  })
  return Object.fromEntries(members) as object
}

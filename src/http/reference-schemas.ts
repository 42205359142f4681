import { html, type Html } from './html.ts'

/** The parts of JSON Schema that our contract uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
  readonly description?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** A type in a few words, with links to the schemas that have names. */
export const describeType = (schema: Schema): Html => {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return html`<a href="#schema-${name}">${name}</a>`
  }
  const alternatives = schema.anyOf ?? (schema.type === undefined ? schema.oneOf : undefined)
  if (alternatives)
    return html`${alternatives.map((one, at) => [at === 0 ? '' : ' or ', describeType(one)])}`
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum) return html`${schema.enum.map((one) => html`<code>${one}</code> `)}`
  if (schema.items) return html`array of ${describeType(schema.items)}`
  return html`${schema.format ?? schema.type ?? 'any'}${boundsOf(schema)}`
}

const boundsOf = (schema: Schema): string => {
  const lowest = schema.minimum ?? (schema.minLength || undefined)
  const highest = schema.maximum ?? schema.maxLength
  const unit = schema.maxLength === undefined ? '' : ' characters'
  const byDefault =
    schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`
  if (highest !== undefined) return `, ${lowest ?? 0} to ${highest}${unit}${byDefault}`
  return (lowest === undefined ? '' : `, at least ${lowest}`) + byDefault
}

export interface Member {
  readonly name: string
  readonly isRequired: boolean
  readonly type: Html
  readonly description: string
}

export const membersOf = ({ properties = {}, required = [] }: Schema): readonly Member[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    type: describeType(schema),
    description: schema.description ?? '',
  }))

interface NamedParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

/** A command that does it. */
export const curlExample = (
  url: string,
  method: string,
  path: string,
  parameters: readonly NamedParameter[],
  body: unknown,
): string => {
  const needsKey = parameters.some(({ name, required }) => name === 'Idempotency-Key' && required)
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${url}${path}`,
    `-H 'Authorization: Bearer od_live_…'`,
    ...(needsKey ? [`-H 'Idempotency-Key: order-5531-reminder'`] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ')
}

import { z } from 'zod'
import { isConnectionHeader, isHeaderName, isHeaderValue } from '../../runtime/outgoing-headers.ts'
import { readTransferTarget } from '../organizations/transfer-target.ts'
import { isHidden } from './hidden-values.ts'

/** Tools every agent has; a configured one may not take their names. */
const reservedNames: ReadonlySet<string> = new Set([
  'end_call',
  'send_dtmf',
  'opt_out',
  'voicemail_detected',
  'transfer_call',
])

const maxSchemaBytes = 16 * 1024

const isJsonSchemaOfObject = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['type'] === 'object' && JSON.stringify(schema).length <= maxSchemaBytes

/** For a value that was shown hidden, and could not be filled in again. */
export const hiddenValue = 'Its value is hidden here and not kept for this server: write it again.'

const headers = z
  .record(
    z
      .string()
      .refine(isHeaderName, 'This is no name of an HTTP header.')
      .refine((name) => !isConnectionHeader(name), 'The connection sets this header itself.'),
    z
      .string()
      .refine(isHeaderValue, 'It must be one line of at most 4096 characters.')
      .refine((value) => !isHidden(value), hiddenValue),
  )
  .refine((all) => Object.keys(all).length <= 20, 'It must have at most 20 members.')

/** `{name}` in a URL, after its host, stands for an argument of the model. */
const placeholder = /\{([A-Za-z][A-Za-z0-9_]{0,63})\}/g

const propertiesOf = (schema: Readonly<Record<string, unknown>>): object =>
  typeof schema['properties'] === 'object' && schema['properties'] !== null
    ? schema['properties']
    : {}

const httpToolMembers = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/,
      'It must begin with a letter, then letters, digits or "_", at most 64 in all.',
    )
    .refine((name) => !reservedNames.has(name), 'Every agent has a tool of this name already.'),
  description: z.string().min(1).max(1000),
  parameters: z
    .record(z.string(), z.json())
    .refine(isJsonSchemaOfObject, 'It must be a JSON Schema of type "object" of at most 16 KiB.'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: z
    .url({ protocol: /^https?$/, error: 'It must be a URL of http or https.' })
    .max(2048)
    .refine((url) => !isHidden(url), hiddenValue)
    // Such a host could not be resolved in any call.
    .refine((url) => !/^[^/]*\/\/[^/?#]*[{}]/.test(url), 'No argument may stand in the host.'),
  headers: headers.optional(),
  timeout_ms: z.int().min(100).max(30_000).default(10_000),
})

/** A placeholder without a declared argument would make every request fail. */
const httpTool = httpToolMembers.superRefine((tool, context) => {
  const properties = propertiesOf(tool.parameters)
  const names = new Set([...tool.url.matchAll(placeholder)].map(([, name = '']) => name))
  for (const name of names) {
    if (Object.hasOwn(properties, name)) continue
    const message = `"{${name}}" is no property of the tool's parameters.`
    context.addIssue({ code: 'custom', path: ['url'], message })
  }
})

const builtinTool = z.strictObject({
  builtin: z.literal('transfer_call'),
  to: z.string().check((context) => {
    const target = readTransferTarget(context.value)
    if ('problem' in target)
      context.issues.push({ code: 'custom', message: target.problem, input: context.value })
  }),
})

/** One of an agent's tools: an HTTP request, or a built-in tool with configuration. */
export const agentToolSchema = z.unknown().transform((tool, context) => {
  const isBuiltin = typeof tool === 'object' && tool !== null && 'builtin' in tool
  const result = (isBuiltin ? builtinTool : httpTool).safeParse(tool, { reportInput: true })
  if (result.success) return result.data
  // Zod completes the paths of issues pushed here; they are complete already, which does no harm.
  context.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]))
  // Discarded, but its name is still compared with the others.
  return tool as never
})

export type AgentTool = z.output<typeof httpTool> | z.output<typeof builtinTool>

/** The transfer targets in an agent's own settings. */
export const transferTargetOf = (agent: {
  readonly tools?: readonly AgentTool[] | undefined
}): string | undefined =>
  (agent.tools ?? []).flatMap((tool) => ('builtin' in tool ? [tool.to] : []))[0]

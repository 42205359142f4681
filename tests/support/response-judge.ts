import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorEnvelope } from '../../src/contract/error-envelope.ts'
import { errorStatuses } from '../../src/contract/errors.ts'

export interface JudgedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

interface Described {
  readonly pattern: RegExp
  readonly path: string
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, z.ZodType>>
}

/**
 * Judges responses against the published OpenAPI document, independently of the schemas it was made from: `judge`
 * lists the errors of a response.
 */
export const createAnswerJudge = () => {
  const described = readDocument()
  return (method: string, target: string, answer: JudgedAnswer): readonly string[] => {
    const path = target.split('?')[0] ?? ''
    const known = described.find(({ pattern }) => pattern.test(path))
    const isHead = method === 'HEAD'
    const schema = known?.methods
      .get(isHead ? 'get' : method.toLowerCase())
      ?.get(`${answer.status}`)
    return [
      ...(answer.status >= 500 ? [`status ${answer.status}`] : []),
      ...standingFaults(answer),
      ...(answer.status < 400 ? meteredFaults(answer) : refusalFaults(answer, isHead)),
      ...(answer.status < 400 && !schema ? ['a success that is not described'] : []),
      ...(schema && !isHead ? schemaFaults(schema, answer.body) : []),
    ]
  }
}

const standingFaults = ({ headers }: JudgedAnswer): string[] =>
  Object.entries({
    'service-version': /^2026-07-16$/,
    'x-request-id': /^[A-Za-z0-9._:-]{1,64}$/,
    'cache-control': /^no-store$/,
    'x-content-type-options': /^nosniff$/,
    'content-type': /^application\/json; charset=utf-8$/,
  }).flatMap(([name, shape]) =>
    shape.test(headers[name] ?? '') ? [] : [`${name}: ${headers[name]}`],
  )

const meteredFaults = ({ headers }: JudgedAnswer): string[] =>
  ['limit', 'remaining', 'reset', 'policy'].flatMap((name) =>
    headers[`ratelimit-${name}`] === undefined ? [`no ratelimit-${name}`] : [],
  )

const requiredByStatus: Readonly<Record<number, string>> = {
  401: 'www-authenticate',
  405: 'allow',
  429: 'retry-after',
}

const refusalFaults = ({ status, headers, body }: JudgedAnswer, isHead: boolean): string[] => {
  const required = requiredByStatus[status]
  const missing = required !== undefined && !headers[required] ? [`no ${required}`] : []
  if (isHead) return missing
  const envelope = errorEnvelope.safeParse(parse(body))
  if (!envelope.success) return [...missing, `no envelope: ${body.slice(0, 200)}`]
  const { code, request_id: requestId } = envelope.data.error
  return [
    ...missing,
    ...(errorStatuses[code] === status ? [] : [`${code} with ${status}`]),
    ...(requestId === headers['x-request-id'] ? [] : ['another request id in the envelope']),
  ]
}

const schemaFaults = (schema: z.ZodType, body: string): string[] => {
  const result = schema.safeParse(parse(body))
  return result.success
    ? []
    : [`not as described: ${JSON.stringify(result.error.issues).slice(0, 300)}`]
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const documentFile = join(import.meta.dirname, '../../docs/api/openapi.json')

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, ResponseObject> }>>
  readonly components: { readonly schemas: Record<string, never> }
}

interface ResponseObject {
  readonly content?: { readonly 'application/json': { readonly schema: object } }
}

const readDocument = (): readonly Described[] => {
  const text = readFileSync(documentFile, 'utf8').replaceAll('#/components/schemas/', '#/$defs/')
  const { paths, components } = JSON.parse(text) as Document
  const schemaOf = ({ content }: ResponseObject) =>
    content &&
    z.fromJSONSchema({ ...content['application/json'].schema, $defs: components.schemas })
  return Object.entries(paths).map(([path, methods]) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: new Map(
      Object.entries(methods).map(([method, { responses }]) => [
        method,
        new Map(
          Object.entries(responses).flatMap(([status, response]) => {
            const schema = schemaOf(response)
            return schema ? [[status, schema] as const] : []
          }),
        ),
      ]),
    ),
  }))
}

import { hasBody, type Operation, type Operations } from '../define-operation.ts'
import { errorEnvelope } from '../error-envelope.ts'
import { latestVersion } from '../versions.ts'
import { guides } from './guides.ts'
import { commonParameters, parametersOf } from './parameters.ts'
import { responseHeaders, responsesOf, sharedResponses } from './responses.ts'
import { createSchemaCollector, type Json, type SchemaCollector } from './schemas.ts'

const description = `
Server-to-server REST API for AI phone calls. All bodies are JSON. Every request carries
\`Authorization: Bearer <API_KEY>\`; the key determines the organization and the permitted operations.

Accepted work is asynchronous: it is queued, and its state is read by polling the resource. When telephony capacity is
full, accepted work stays \`queued\`; it is never dropped and never turned into a 429.

Lists are \`{data, next_cursor}\`, newest first. Date-times are RFC 3339 in UTC with milliseconds; any offset is
accepted. Lengths count Unicode code points after trimming. Unknown fields and parameters are refused.
API keys are managed in an administrator’s session: a bearer key meets 403 under \`/api-keys\`.
`.trim()

const tags: Readonly<Record<string, string>> = {
  Calls: 'Immediate AI calls and their states.',
  Results: 'Summaries and transcripts; each becomes ready on its own.',
  Contacts: 'People your organization may call, by your own identities.',
  Agents: 'AI voice agents, managed by the operator.',
  Batches: 'Dialling jobs for many recipients.',
  Automations: 'Automations and their runs, one contact at a time.',
  Recordings: 'Recordings of calls and their download URLs.',
}

/** The OpenAPI 3.1 document of a table of operations, as served at `serverUrl`. */
export const openApiDocument = (operations: Operations, serverUrl: string): Json => {
  const collector = createSchemaCollector()
  collector.schemaOf(errorEnvelope, 'output')
  const paths = pathsOf(operations, collector)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Outdial API',
      version: latestVersion,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      contact: { name: 'The operator of this installation', url: serverUrl },
    },
    servers: [{ url: serverUrl, description: 'This installation.' }],
    security: [{ apiKey: [] }],
    tags: [...tagsOf(operations), ...guides],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `od_live_…`.' },
      },
      parameters: commonParameters,
      headers: responseHeaders,
      responses: sharedResponses(),
      schemas: sortedByName(collector.components),
    },
  }
}

const tagsOf = (operations: Operations): readonly Json[] =>
  [...new Set(Object.values(operations).map(({ tag }) => tag))].map((name) => ({
    name,
    description: tags[name] ?? name,
  }))

const pathsOf = (operations: Operations, collector: SchemaCollector): Json => {
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations))
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(name, operation, collector),
    }
  return paths
}

const operationObject = (name: string, operation: Operation, collector: SchemaCollector): Json => ({
  operationId: name,
  tags: [operation.tag],
  summary: operation.summary,
  description: `${operation.description}\n\nScope: ${operation.anyScope
    .map((scope) => `\`${scope}\``)
    .join(' or ')}. Bucket: \`${operation.bucket}\`.`,
  parameters: parametersOf(operation, collector),
  ...(hasBody(operation.method) ? { requestBody: requestBodyOf(operation, collector) } : {}),
  responses: responsesOf(operation, collector),
})

const requestBodyOf = (operation: Operation, collector: SchemaCollector): Json => ({
  required: true,
  content: {
    'application/json': {
      schema: collector.schemaOf(operation.body, 'input'),
      example: operation.bodyExample,
    },
  },
})

const sortedByName = (components: Readonly<Record<string, Json>>): Json =>
  Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))

import { html, raw, type Html } from './html.ts'
import { curlExample, describeType, membersOf, type Schema } from './reference-schemas.ts'

/** The parts of our OpenAPI document that the page shows. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, ApiResponse>>
  }
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema: Schema
}

export interface ApiResponse {
  readonly description: string
  readonly content: { readonly 'application/json': Content }
}

interface Content {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, unknown>>
}

export interface ApiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } }
  readonly responses: Readonly<Record<string, ApiResponse | Reference>>
}

interface Reference {
  readonly $ref: string
}

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: ApiOperation
}

/** A page to read the contract on: complete HTML without scripts, everything in it. */
export const referencePage = (api: OpenApi, style: string): string => {
  const entries = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const ofTag = (tag: string) => entries.filter(({ operation }) => operation.tags.includes(tag))
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${api.info.title}</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <nav aria-label="Operations">
          <a class="title" href="#top">${api.info.title}</a>
          ${api.tags.map(({ name }) => navigation(name, ofTag(name)))}
          <h2><a href="#schemas">Schemas</a></h2>
        </nav>
        <main id="top">
          <h1>${api.info.title} <small>${api.info.version}</small></h1>
          ${prose(api.info.description)}
          <p>
            Base URL <code>${api.servers[0]?.url ?? ''}</code> ·
            <a href="/openapi.json">openapi.json</a>
          </p>
          ${api.tags.map(
            ({ name, description }) =>
              html`<h2>${name}</h2>
                <p>${description}</p>
                ${ofTag(name).map((entry) => section(entry, api))}`,
          )}
          <h2 id="schemas">Schemas</h2>
          ${Object.entries(api.components.schemas).map(([name, schema]) => schemaSection(name, schema))}
        </main>
      </body>
    </html>`.text
}

const navigation = (tag: string, entries: readonly Entry[]): Html =>
  html`<h2>${tag}</h2>
    <ul>
      ${entries.map(
        ({ operation }) =>
          html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
      )}
    </ul>`

const section = ({ method, path, operation }: Entry, api: OpenApi): Html => {
  const parameters = operation.parameters.map((one) =>
    '$ref' in one ? resolve(one, api.components.parameters) : one,
  )
  const body = operation.requestBody?.content['application/json']
  return html`<section id="${operation.operationId}">
    <h3>${operation.summary}</h3>
    <p class="route"><b class="${method.toLowerCase()}">${method}</b> <code>${path}</code></p>
    ${prose(operation.description)} ${parameterTable(parameters)}
    ${
      body
        ? html`<h4>Body</h4>
            ${typeLine(body.schema)}`
        : ''
    }
    <pre>${curlExample(api.servers[0]?.url ?? '', method, path, parameters, body?.example)}</pre>
    <h4>Answers</h4>
    ${Object.entries(operation.responses).map(([status, one]) =>
      answer(status, '$ref' in one ? resolve(one, api.components.responses) : one),
    )}
  </section>`
}

const parameterTable = (parameters: readonly Parameter[]): Html =>
  html`<table>
    <thead>
      <tr>
        <th>Parameter</th>
        <th>In</th>
        <th>Type</th>
        <th>Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${parameters.map(
        (one) =>
          html`<tr>
            <td><code>${one.name}</code>${one.required ? html` <em>required</em>` : ''}</td>
            <td>${one.in}</td>
            <td>${describeType(one.schema)}</td>
            <td>${inline(one.description)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const answer = (status: string, { description, content }: ApiResponse): Html => {
  const { schema, example, examples } = content['application/json']
  const summary = html`<b class="s${status[0] ?? ''}">${status}</b> ${inline(description)}`
  return examples
    ? html`<p class="answer">
        ${summary} ${Object.keys(examples).map((code) => html`<code>${code}</code> `)}
      </p>`
    : html`<details>
        <summary>${summary} ${describeType(schema)}</summary>
        <pre>${JSON.stringify(example, null, 2)}</pre>
      </details>`
}

const schemaSection = (name: string, schema: Schema): Html =>
  html`<section id="schema-${name}">
    <h3>${name}</h3>
    ${schema.description ? prose(schema.description) : ''}
    ${(schema.oneOf?.filter((one) => one.properties) ?? []).map(memberTable)}
    ${schema.properties ? memberTable(schema) : ''}
  </section>`

const typeLine = (schema: Schema): Html =>
  schema.properties && Object.keys(schema.properties).length > 0
    ? memberTable(schema)
    : html`<p>
        ${describeType(schema)}${schema.properties ? ' without members: ' : ''}${schema.properties ? html`<code>{}</code>` : ''}
      </p>`

const memberTable = (schema: Schema): Html =>
  html`<table>
    <thead>
      <tr>
        <th>Member</th>
        <th>Type</th>
        <th>Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${membersOf(schema).map(
        ({ name, isRequired, type, description }) =>
          html`<tr>
            <td><code>${name}</code>${isRequired ? '' : html` <em>optional</em>`}</td>
            <td>${type}</td>
            <td>${inline(description)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const resolve = <T>({ $ref }: Reference, components: Readonly<Record<string, T>>): T => {
  const found = components[$ref.split('/').at(-1) ?? '']
  if (!found) throw new Error(`${$ref} leads nowhere.`)
  return found
}

/** Paragraphs of text with `code` in back quotes: the only markup our descriptions use. */
const prose = (text: string): Html =>
  html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`

const inline = (text: string): Html =>
  html`${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`

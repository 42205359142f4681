import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Operations } from '../contract/define-operation.ts'
import { openApiDocument } from '../contract/openapi/document.ts'
import { operations } from '../contract/operations.ts'
import type { Page, Pages } from './pages.ts'
import { referencePage, type OpenApi } from './reference-page.ts'

/** The page brings all it needs with it: nothing is loaded from anywhere, and nothing runs. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** `/openapi.json` and `/docs`, both made from the operations table once, on first use. */
export const createDocumentationPages = (
  publicUrl: string,
  table: Operations = operations,
): Pages => {
  const document = once(() => openApiDocument(table, publicUrl))
  const json = once(() => JSON.stringify(document()))
  const html = once(() =>
    referencePage(JSON.parse(json()) as OpenApi, readFileSync(styleFile, 'utf8')),
  )
  return new Map<string, Page>([
    ['/openapi.json', () => ({ type: 'application/json; charset=utf-8', body: json() })],
    [
      '/docs',
      () => ({
        type: 'text/html; charset=utf-8',
        body: html(),
        headers: { 'Content-Security-Policy': policy },
      }),
    ],
  ])
}

const styleFile = join(import.meta.dirname, 'reference-page.css')

const once = <T extends object | string>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}

import type { Operations } from '../../contract/define-operation.ts'
import { openApiDocument } from '../../contract/openapi/document.ts'
import { operations } from '../../contract/operations.ts'
import { zipped, type WebPage, type PageContent, type Pages } from '../pages.ts'
import { loadReferenceProgram } from './reference-program.ts'

/** What Scalar may do: no fonts, no telemetry, no AI, no proxy and no search of others, only what we serve. */
const scalarConfiguration = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  theme: 'none',
  persistAuth: false,
}

// Requests are tried where the page came from: the content policy lets it ask no other origin, and one installation is
// reached as localhost, as 127.0.0.1 and by its public name.
const startProgram = `const configuration = ${JSON.stringify(scalarConfiguration)}
configuration.servers = [{ url: location.origin, description: 'This installation.' }]
Scalar.createApiReference('#reference', configuration)
`

/** `/openapi.json` and `/docs`, made from the operations table on first use. */
export const createDocumentationPages = (
  publicUrl: () => string,
  table: Operations = operations,
): Pages => {
  const document = once(() =>
    zipped({
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(openApiDocument(table, publicUrl())),
    }),
  )
  const program = once(loadProgram)
  return new Map<string, WebPage>([
    ['/openapi.json', document],
    ['/docs', referencePage],
    [programPath, program],
    [startPath, () => ({ type: javaScript, body: startProgram })],
  ])
}

const javaScript = 'text/javascript; charset=utf-8'
const programPath = '/docs/scalar.js'
const startPath = '/docs/start.js'

/** Only what comes from this server runs or is loaded; the style elements and attributes are Scalar's own. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const referencePage = (): PageContent => ({
  type: 'text/html; charset=utf-8',
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outdial API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The same contract is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${programPath}"></script>
<script src="${startPath}"></script>
</body>
</html>
`,
  headers: { 'Content-Security-Policy': policy },
})

const loadProgram = async (): Promise<PageContent> => ({
  ...(await loadReferenceProgram()),
  type: javaScript,
  headers: { 'Cache-Control': 'max-age=3600' },
})

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

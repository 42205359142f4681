import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { WebPage, PageContent } from './pages.ts'
import type { Headers } from './reply.ts'

/** How far the application's files are. */
export type BuildState =
  | { readonly kind: 'building' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'built' }

export interface ApplicationPages {
  /** The page at a path: a file of the application, or for each other path of a person the application itself. */
  readonly find: (path: string) => WebPage | undefined
  /** Reads the files again, after a build. */
  readonly load: () => Promise<void>
}

/** More than an application of ours has: a folder that was named by mistake is not read into memory. */
const maxFiles = 1_000
const maxBytes = 64 * 1024 * 1024

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Their names hold a hash of what is in them. */
const assetHeaders = { 'Cache-Control': 'public, max-age=31536000, immutable' }
const assetFolder = '/assets/'
/** A page names the newest of them: it is asked for again each time. */
const pageHeaders = { 'Cache-Control': 'no-cache' }

/** The page with what a browser is told besides, as names and values in turn. */
export const withHeaders = (page: WebPage, further: readonly string[]): WebPage => {
  const added: Headers = {}
  for (let at = 0; at + 1 < further.length; at += 2)
    added[further[at] ?? ''] = further[at + 1] ?? ''
  return async () => {
    const content = await page()
    return { ...content, headers: { ...content.headers, ...added } }
  }
}

/** Serves a built single-page application from memory, and says how far it is where it is not built yet. */
export const createApplicationPages = (
  folder: string,
  state: () => BuildState,
): ApplicationPages => {
  let files: ReadonlyMap<string, PageContent> = new Map()
  return {
    find: (path) => {
      if (path.startsWith(assetFolder)) {
        const asset = files.get(path)
        return asset && (() => asset)
      }
      return () => files.get('/index.html') ?? waitingPage(state())
    },
    load: async () => {
      files = await readFiles(folder)
    },
  }
}

const readFiles = async (folder: string): Promise<ReadonlyMap<string, PageContent>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => join(entry.parentPath, entry.name))
  if (names.length > maxFiles) throw new Error(`${folder} has more than ${maxFiles} files.`)
  const pages = new Map<string, PageContent>()
  let bytes = 0
  for (const name of names) {
    const body = await readFile(name)
    bytes += body.length
    if (bytes > maxBytes) throw new Error(`${folder} has more than ${maxBytes} bytes.`)
    pages.set(`/${relative(folder, name).split(sep).join('/')}`, {
      type: types[extname(name)] ?? 'application/octet-stream',
      body,
      ...(await zippedOf(name)),
      headers: name.endsWith('.html') ? pageHeaders : assetHeaders,
    })
  }
  return pages
}

const zippedOf = async (name: string): Promise<{ gzipped?: Buffer }> => {
  try {
    return { gzipped: await readFile(`${name}.gz`) }
  } catch {
    return {}
  }
}

const waitingPage = (state: BuildState): PageContent => ({
  status: 503,
  type: 'text/html; charset=utf-8',
  headers: { ...pageHeaders, 'Retry-After': String(refreshSeconds) },
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${state.kind === 'building' ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : ''}
<title>Outdial</title>
</head>
<body>
<main>
<h1>${state.kind === 'failed' ? 'The dashboard could not be built' : 'The dashboard is being built'}</h1>
${paragraph(state)}
</main>
</body>
</html>
`,
})

const refreshSeconds = 3

const paragraph = (state: BuildState): string =>
  state.kind === 'failed'
    ? `<p>${escapeHtml(state.why)}</p><p>The API and the command line work meanwhile. Restart the service to build it again.</p>`
    : '<p>This takes about a minute after the first start and after an update. The API and the command line work meanwhile. The page opens by itself.</p>'

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

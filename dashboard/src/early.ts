/**
 * A program of its own, a few hundred bytes that run while the application is still being loaded: it asks for the session
 * and for what the page shows first, so that both are there when the application begins. It imports nothing.
 */

/** An operation that a page begins with, asked for before the application runs. */
export interface EarlyRequest {
  readonly name: string
  readonly input: object
  readonly url: string
  readonly response: Promise<Response>
}

declare global {
  var outdialEarly: EarlyRequest[] | undefined
}

const lists: Readonly<Record<string, readonly [name: string, url: string, query?: object]>> = {
  '/': ['getOverview', '/console/overview'],
  '/calls': ['listCalls', '/console/calls'],
  '/recordings': ['listRecordings', '/console/recordings'],
  '/agents': ['listAgents', '/console/agents?state=current', { state: 'current' }],
  '/contacts': ['listContacts', '/console/contacts'],
  '/batches': ['listBatches', '/console/batches'],
  '/automations': ['listAutomations', '/console/automations'],
  '/runs': ['listRuns', '/console/runs'],
}

const callPage = /^\/calls\/([0-9a-f-]{36})$/

const ask = (name: string, url: string, input: object): EarlyRequest => ({
  name,
  input,
  url,
  response: fetch(url, { credentials: 'same-origin', headers: { Accept: 'application/json' } }),
})

const requestsOf = (path: string): EarlyRequest[] => {
  const [, callId] = callPage.exec(path) ?? []
  if (callId !== undefined)
    return [ask('getCall', `/console/calls/${callId}`, { params: { call_id: callId } })]
  const found = lists[path]
  if (!found) return []
  const [name, url, query] = found
  return [ask(name, url, name === 'getOverview' ? {} : { query: query ?? {} })]
}

const { pathname, search } = window.location
const isOpenPage = /^\/(?:login$|setup$|invite\/)/.test(pathname)
// An organization that is still to be opened is opened first.
const isOpening = sessionStorage.getItem('outdial-organization-opening') !== null
if (!isOpenPage && !isOpening) {
  globalThis.outdialEarly = [
    ask('getSession', '/console/session', {}),
    // Filters in the address are read by the page itself.
    ...(search === '' ? requestsOf(pathname) : []),
  ]
  // One that nobody takes is no fault of the page.
  for (const { response } of globalThis.outdialEarly) response.catch(() => undefined)
}

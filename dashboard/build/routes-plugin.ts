import type { Plugin } from 'vite'
import type { Operation, Operations } from '../../src/contract/define-operation.ts'
import { scopes } from '../../src/contract/scopes.ts'

const moduleName = 'virtual:console-routes'
const resolvedName = `\0${moduleName}`

/**
 * Writes method and path of each operation into the page's program, and which operations of the API a key's scopes open.
 * The tables themselves stay outside: with them would come every schema and Zod, about 60 kB.
 */
export const consoleRoutes = (table: Operations, api: Operations): Plugin => ({
  name: 'console-routes',
  resolveId: (id) => (id === moduleName ? resolvedName : undefined),
  load: (id) =>
    id === resolvedName
      ? `export const routes = ${routesText(table)}\nexport const openedBy = ${openedText(api)}`
      : undefined,
})

const routesText = (table: Operations): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(table).map(([name, operation]) => [name, routeOf(operation)]),
    ),
  )

/** What the browser needs to know of an operation to send its request. */
const routeOf = ({ method, path, idempotency }: Operation) => ({ method, path, idempotency })

const openedText = (api: Operations): string =>
  JSON.stringify(
    Object.fromEntries(
      scopes.map((scope) => [
        scope,
        Object.values(api)
          .filter(({ anyScope }) => anyScope.includes(scope))
          .map(({ method, path }) => `${method} ${path}`),
      ]),
    ),
  )

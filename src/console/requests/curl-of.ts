import { newId } from '../../runtime/ids.ts'
import type { RequestDetail } from '../../domains/requests/request-store.ts'

/** The variable of the shell that the key stands in. */
const keyVariable = '$OUTDIAL_API_KEY'

type Shown = Pick<RequestDetail, 'method' | 'path' | 'request_body' | 'idempotency'>

/**
 * The request as a command for a shell. The key is a variable and the Idempotency-Key a new one; what was masked when the
 * request was stored stays masked. Nothing of the request is read by the shell.
 */
export const curlOf = (apiUrl: string, { method, path, request_body: body, idempotency }: Shown) =>
  [
    `curl -X ${quoted(method)} ${quoted(apiUrl.replace(/\/$/, '') + path)}`,
    `-H "Authorization: Bearer ${keyVariable}"`,
    ...(idempotency === null ? [] : [`-H 'Idempotency-Key: ${newId()}'`]),
    ...(body === null || body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')

/** Between single quotes a shell reads nothing. */
const quoted = (text: string): string =>
  /^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

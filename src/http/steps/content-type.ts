import type { IncomingMessage } from 'node:http'
import { invalidField } from '../../contract/api-error.ts'

const json = /^application\/json[ \t]*(?:;|$)/i
const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)"?/i

/** Throws 400 unless the body is declared as JSON in UTF-8, not compressed (D14: path `content-type`). */
export const requireJson = (request: IncomingMessage): void => {
  const [type, second] = request.headersDistinct['content-type'] ?? []
  const isJson =
    type !== undefined &&
    second === undefined &&
    json.test(type) &&
    /^utf-?8$/i.test(charset.exec(type)?.[1] ?? 'utf-8')
  if (!isJson) throw invalidField('content-type', 'invalid_format')
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw invalidField('content-encoding', 'invalid_format')
}

import { invalidField } from '../../contract/api-error.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

const json = /^application\/json[ \t]*(?:;|$)/i
const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)"?/i

/** Throws 400 unless the body is declared as JSON in UTF-8, neither encoded nor compressed (D14: path `content-type`). */
export const requireJson = (request: RequestHead): void => {
  const type = soleHeader(request, 'content-type')
  const isJson =
    typeof type === 'string' &&
    json.test(type) &&
    /^utf-?8$/i.test(charset.exec(type)?.[1] ?? 'utf-8')
  if (!isJson) throw invalidField('content-type', 'invalid_format', 'must be application/json')
  requireCoding(request, 'content-encoding', 'identity')
  // Node takes any list that ends with `chunked` for that alone, and would hand on what the other codings made.
  requireCoding(request, 'transfer-encoding', 'chunked')
}

const requireCoding = (request: RequestHead, name: string, known: string): void => {
  const coding = soleHeader(request, name)
  if (coding !== undefined && coding?.toLowerCase() !== known)
    throw invalidField(name, 'invalid_format', `must be ${known}, or absent`)
}

/** Path and query of a request target; an absolute-form target loses its origin (RFC 9112 section 3.2.2). */
export const splitTarget = (url: string): { readonly path: string; readonly query: string } => {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

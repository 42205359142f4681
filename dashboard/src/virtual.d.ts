declare module 'virtual:console-routes' {
  export const routes: Readonly<
    Record<
      string,
      {
        readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
        readonly path: string
        readonly idempotency: 'required' | 'optional' | 'none'
      }
    >
  >
  /** The operations of the API that a scope of a key opens: `GET /calls`. */
  export const openedBy: Readonly<Record<string, readonly string[]>>
}

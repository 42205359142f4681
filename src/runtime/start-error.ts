/** The service cannot start here; the message says why and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

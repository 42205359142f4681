/** A command an operator gave that cannot be carried out; the message is a sentence for them. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

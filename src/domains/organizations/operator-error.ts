/**
 * An operator's command that cannot be carried out; the message is a sentence for them, or a line for each problem.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly lines: readonly string[]

  constructor(message: string | readonly string[], options?: ErrorOptions) {
    const lines = typeof message === 'string' ? [message] : message
    super(lines.join('\n'), options)
    this.lines = lines
  }
}

import type { WriteStream } from 'node:tty'

/** Of a terminal that does not tell its size. */
const usualWidth = 80

/** In characters; undefined if the stream is a file or a pipe. A terminal without a size has 0 columns. */
export const terminalWidthOf = ({
  isTTY,
  columns,
}: Pick<WriteStream, 'columns'> & { readonly isTTY?: boolean }): number | undefined => {
  if (isTTY !== true) return undefined
  return columns > 0 ? columns : usualWidth
}

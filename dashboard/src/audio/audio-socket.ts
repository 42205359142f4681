/** The service's end of a connection that carries sound. */
export const openAudioSocket = (ticket: string): WebSocket => {
  const url = new URL(`/console/audio?ticket=${encodeURIComponent(ticket)}`, location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  return socket
}

/** What a page says of an end that was not asked for. */
export const sentenceOfEnd = ({ code, reason }: CloseEvent): string => {
  if (reason !== '') return reason
  return code === 1000 ? 'It has ended.' : 'The connection broke off.'
}

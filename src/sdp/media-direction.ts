/** Of one stream, from our side unless said otherwise (RFC 3264 5.1). */
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

export const maySend = (direction: MediaDirection): boolean =>
  direction === 'sendrecv' || direction === 'sendonly'

export const mayReceive = (direction: MediaDirection): boolean =>
  direction === 'sendrecv' || direction === 'recvonly'

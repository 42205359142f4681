import { isIP } from 'node:net'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Destination } from '../message/destination.ts'
import { isSameHost, topVia } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'
import { hostPort } from '../message/uri.ts'

/** How our peers see us through a NAT, learned from `received` and `rport` in their responses (RFC 3581). */
interface OwnViews {
  learn(destination: Destination, response: SipResponse): void
  /** Host and port; `undefined` while the peer said nothing, or sees what we see. */
  of(destination: Destination): string | undefined
  /** The connection is gone, and its NAT binding with it. */
  forget(destination: Destination): void
}

const maxViews = 1024

export const createOwnViews = (): OwnViews => {
  const views = new BoundedMap<string, string | undefined>({ maxSize: maxViews })
  return {
    learn: (destination, response) => {
      const view = viewOf(destination, response)
      const key = keyOf(destination)
      if (view === undefined) views.delete(key)
      else views.set(key, view)
    },
    of: (destination) => views.get(keyOf(destination)),
    forget: (destination) => {
      views.delete(keyOf(destination))
    },
  }
}

const keyOf = ({ protocol, address, port }: Destination): string =>
  `${protocol} ${hostPort(address, port)}`

const viewOf = ({ protocol }: Destination, response: SipResponse): string | undefined => {
  const via = topVia(response)
  if (via === undefined) return undefined
  // RFC 5118 4.5: some write an IPv6 address there in brackets.
  const received = (via.parameters.get('received') ?? via.host).replace(/^\[|\]$/g, '')
  const port = Number(via.parameters.get('rport') || via.port)
  if (isIP(received) === 0 || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  const isOwnHost = isSameHost(via.host, received)
  // On a stream the port is that of the connection, which differs from the one where we listen.
  if (isOwnHost && (protocol !== 'udp' || port === via.port)) return undefined
  return hostPort(received, port)
}

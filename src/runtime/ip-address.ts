import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/**
 * An IP address as sockets report it: IPv6 compressed and in lower case, an IPv4 address mapped into IPv6 as itself.
 * Other text comes back as it is.
 */
export const canonicalAddress = (text: string): string => {
  if (!isIPv6(text)) return text
  // A zone (`%eth0`) names one of our interfaces, not a part of the address.
  const plain = text.split('%')[0] ?? text
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' })
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  return mapped !== undefined && isIPv4(mapped) ? mapped : address
}

/** Whether the address is this machine itself. */
export const isLoopback = (address: string): boolean =>
  address === '::1' || canonicalAddress(address).startsWith('127.')

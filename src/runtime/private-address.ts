import { BlockList, isIP } from 'node:net'

/**
 * Addresses that do not belong to a public host: loopback, private, link-local, shared, multicast, documentation and
 * every IPv6 form that wraps an IPv4 address (RFC 6890). What a tenant enters must never reach them.
 */
const nonPublicIPv4 = new BlockList()
// A list of its own: Node matches IPv4 addresses against IPv6 rules for mapped ones.
const nonPublicIPv6 = new BlockList()

for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  nonPublicIPv4.addSubnet(network, bits, 'ipv4')
}
// Outside of 2000::/3 no host is public: all of `::a.b.c.d`, `::ffff:a.b.c.d`, `::ffff:0:a.b.c.d` and NAT64 lies there.
const globalIPv6 = new BlockList()
globalIPv6.addSubnet('2000::', 3, 'ipv6')
for (const [network, bits] of [
  // Teredo (2001::/32) and 6to4 carry an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  nonPublicIPv6.addSubnet(network, bits, 'ipv6')
}

/** An interface identifier of ISATAP carries an IPv4 address too (RFC 5214 section 6.1). */
const isatap = /:(?:200:|0:)?5efe:[0-9a-f]{1,4}:[0-9a-f]{1,4}$/

/** Whether the text is an IP address of a public host. A host name is not: resolve it first. */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !nonPublicIPv4.check(address, 'ipv4')
    case 6:
      return isPublicIPv6(address)
    default:
      return false
  }
}

const isPublicIPv6 = (given: string): boolean => {
  // A zone belongs to a link, and is no part of a public address.
  if (given.includes('%')) return false
  const address = new URL(`http://[${given}]`).hostname.slice(1, -1)
  const isGlobal = globalIPv6.check(address, 'ipv6') && !nonPublicIPv6.check(address, 'ipv6')
  return isGlobal && !isatap.test(address)
}

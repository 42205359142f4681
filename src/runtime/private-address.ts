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
for (const [network, bits] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  nonPublicIPv6.addSubnet(network, bits, 'ipv6')
}

/** Whether the text is an IP address of a public host. A host name is not: resolve it first. */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !nonPublicIPv4.check(address, 'ipv4')
    case 6:
      return !nonPublicIPv6.check(address, 'ipv6')
    default:
      return false
  }
}

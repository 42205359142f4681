import { BlockList, isIP } from 'node:net'

/**
 * Reads comma-separated addresses and networks in CIDR notation, such as `192.0.2.7,198.51.100.0/24,2001:db8::/32`.
 * Throws an `Error` that names the first part that is neither.
 */
export const parseNetworks = (text: string): BlockList => {
  const networks = new BlockList()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [address = '', bits, ...rest] = part.split('/')
    const version = isIP(address)
    const widest = version === 6 ? 128 : 32
    const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest)
    if (version === 0 || !isPrefix || rest.length > 0 || address.includes('%'))
      throw new Error(`holds "${part.slice(0, 64)}", which is no IP address or network`)
    // A network that contains every address is no list of trusted ones, and usually a mistake.
    if (bits !== undefined && Number(bits) === 0)
      throw new Error(`holds "${part}", which is everybody; name the networks of your carrier`)
    const family = version === 6 ? 'ipv6' : 'ipv4'
    networks.addSubnet(address, bits === undefined ? widest : Number(bits), family)
  }
  return networks
}

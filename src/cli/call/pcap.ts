import type { StoredSipTrace, SipTraceMessage } from '../../domains/calls/sip-trace-store.ts'

/*
 * A packet capture (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html) of kept SIP messages, for tools that
 * read one. Every message is a UDP datagram in it, whatever carried it; its addresses and times are the true ones.
 */

const magic = 0xa1b2c3d4
/** LINKTYPE_RAW: a packet begins with its IPv4 or IPv6 header. */
const linkTypeRaw = 101
const maxPacket = 65_535
const udp = 17
const hopLimit = 64
const udpHeaderBytes = 8

export const pcapOf = (traces: readonly StoredSipTrace[]): Buffer =>
  Buffer.concat([
    fileHeader(),
    ...traces.flatMap(({ first, last }) => [...first, ...last].map(packetOf)),
  ])

const fileHeader = (): Buffer => {
  const header = Buffer.alloc(24)
  header.writeUInt32LE(magic, 0)
  header.writeUInt16LE(2, 4)
  header.writeUInt16LE(4, 6)
  header.writeUInt32LE(maxPacket, 16)
  header.writeUInt32LE(linkTypeRaw, 20)
  return header
}

const packetOf = (message: SipTraceMessage): Buffer => {
  const datagram = ipPacket(message)
  const record = Buffer.alloc(16)
  const atMs = Date.parse(message.at)
  record.writeUInt32LE(Math.floor(atMs / 1000), 0)
  record.writeUInt32LE((atMs % 1000) * 1000, 4)
  record.writeUInt32LE(datagram.length, 8)
  record.writeUInt32LE(datagram.length, 12)
  return Buffer.concat([record, datagram])
}

const ipPacket = ({ direction, local, remote, text }: SipTraceMessage): Buffer => {
  const [from, to] = (direction === 'sent' ? [local, remote] : [remote, local]).map(endpointOf)
  const payload = Buffer.from(text, 'utf8')
  const [source, target] = [from ?? nowhere, to ?? nowhere]
  const isV6 = source.address.length === 16 || target.address.length === 16
  const [sourceAddress, targetAddress] = [source, target].map(({ address }) =>
    isV6 ? asIPv6(address) : address,
  ) as [Buffer, Buffer]
  const segment = Buffer.alloc(udpHeaderBytes)
  segment.writeUInt16BE(source.port, 0)
  segment.writeUInt16BE(target.port, 2)
  segment.writeUInt16BE(udpHeaderBytes + payload.length, 4)
  const length = segment.length + payload.length
  const header = isV6 ? ipv6Header(length) : ipv4Header(length)
  return Buffer.concat([header, sourceAddress, targetAddress, segment, payload])
}

const ipv4Header = (payloadBytes: number): Buffer => {
  const header = Buffer.alloc(12)
  header.writeUInt8(0x45, 0)
  header.writeUInt16BE(20 + payloadBytes, 2)
  header.writeUInt8(hopLimit, 8)
  header.writeUInt8(udp, 9)
  return header
}

const ipv6Header = (payloadBytes: number): Buffer => {
  const header = Buffer.alloc(8)
  header.writeUInt8(0x60, 0)
  header.writeUInt16BE(payloadBytes, 4)
  header.writeUInt8(udp, 6)
  header.writeUInt8(hopLimit, 7)
  return header
}

interface Endpoint {
  /** 4 or 16 bytes. */
  readonly address: Buffer
  readonly port: number
}

const nowhere: Endpoint = { address: Buffer.alloc(4), port: 5060 }

/** `192.0.2.1:5060` or `[2001:db8::1]:5060`; a name is no address, and becomes 0.0.0.0. */
const endpointOf = (written: string): Endpoint => {
  const colon = written.lastIndexOf(':')
  const port = Number(written.slice(colon + 1))
  const host = written.slice(0, colon).replace(/^\[|\]$/g, '')
  return {
    address: addressOf(host) ?? nowhere.address,
    port: Number.isInteger(port) && port > 0 && port < 65_536 ? port : nowhere.port,
  }
}

const addressOf = (host: string): Buffer | undefined => {
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(host)) return Buffer.from(host.split('.').map(Number))
  if (!host.includes(':')) return undefined
  const [head = '', tail] = host.split('::', 2)
  const groupsOf = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16))
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')]
  const missing = Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: missing }, () => 0), ...back].slice(0, 8)
  const address = Buffer.alloc(16)
  for (const [index, group] of groups.entries()) address.writeUInt16BE(group & 0xffff, index * 2)
  return address
}

/** An IPv4 address in an IPv6 packet: ::ffff:0:0/96. */
const asIPv6 = (address: Buffer): Buffer =>
  address.length === 16
    ? address
    : Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), address])

/**
 * Audio whose origin can be read from its bytes (mu-law). The callee is too quiet to count as speech, the agent is
 * audible, and a stranger is louder than both: one byte of the stranger in a stream proves that it passed.
 */
export const frameBytes = 160

const frameOf = (first: number, second: number): Buffer =>
  Buffer.alloc(frameBytes, Buffer.from([first, second]))

export const calleeFrame = frameOf(0x7d, 0xfd)
export const agentFrame = frameOf(0x35, 0xb5)
export const strangerFrame = frameOf(0x02, 0x82)

export interface Heard {
  callee: number
  agent: number
  stranger: number
}

/** Counts bytes by origin; silence and concealment count for none. */
export const hear = (audio: Uint8Array, heard: Heard): void => {
  for (const byte of audio) {
    const level = byte & 0x7f
    if (level === 0x7d) heard.callee += 1
    else if (level === 0x35) heard.agent += 1
    else if (level < 0x10) heard.stranger += 1
  }
}

/** An RTP packet (RFC 3550 5.1). */
export const rtpPacket = (
  payloadType: number,
  sequence: number,
  timestamp: number,
  ssrc: number,
  payload: Uint8Array,
): Buffer => {
  const header = Buffer.alloc(12)
  header[0] = 0x80
  header[1] = payloadType
  header.writeUInt16BE(sequence & 0xffff, 2)
  header.writeUInt32BE(timestamp >>> 0, 4)
  header.writeUInt32BE(ssrc >>> 0, 8)
  return Buffer.concat([header, payload])
}

/** The three closing packets of a telephone event (RFC 4733), key 0 to 11. */
export const telephoneEvent = (event: number, isEnd: boolean, duration: number): Buffer =>
  Buffer.from([event, (isEnd ? 0x80 : 0) | 10, duration >> 8, duration & 255])

/** An RTCP sender report with a BYE (RFC 3550 6.4.1, 6.6). */
export const rtcpBye = (ssrc: number): Buffer => {
  const report = Buffer.alloc(28)
  report.set([0x80, 200, 0, 6])
  report.writeUInt32BE(ssrc >>> 0, 4)
  const bye = Buffer.alloc(8)
  bye.set([0x81, 203, 0, 1])
  bye.writeUInt32BE(ssrc >>> 0, 4)
  return Buffer.concat([report, bye])
}

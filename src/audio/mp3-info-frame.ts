/**
 * The Info frame that LAME writes before a CBR stream and the WebAssembly build omits. Without it players do not
 * know the encoder's delay: all audio is 138 ms late and the end is padded. Layout: Xing header, then LAME's
 * extension (gabriel.mp3-tech.org/mp3infotag.html).
 */
interface Mp3Plan {
  /** Frames of audio, without the Info frame. */
  readonly frames: number
  readonly delaySamples: number
  readonly paddingSamples: number
}

/** MPEG 2.5 layer III at 8 kHz. */
export const mp3FrameSamples = 576
/** 72 ms at 32 kbit/s are whole bytes: no frame needs a padding byte. */
export const mp3FrameBytes = 288

/** LAME's own delay (ENCDELAY in encoder.h); players handle the decoder's 529 samples themselves. */
const encoderDelaySamples = 576

/**
 * How LAME divides this many samples into frames (`lame_encode_flush`: the padding is never less than one frame).
 */
export const planMp3 = (totalSamples: number): Mp3Plan => {
  const delayed = encoderDelaySamples + totalSamples
  const overhang = delayed % mp3FrameSamples
  const paddingSamples = overhang === 0 ? mp3FrameSamples : 2 * mp3FrameSamples - overhang
  return {
    frames: (delayed + paddingSamples) / mp3FrameSamples,
    delaySamples: encoderDelaySamples,
    paddingSamples,
  }
}

const at = { tag: 21, lame: 141, crc: 175 }
/** Frame count, byte count, seek table, quality: all four, as LAME writes them; its extension follows directly. */
const allFields = 0xf
const constantBitrate = 1

/** One frame without sound that contains the plan. */
export const mp3InfoFrame = (plan: Mp3Plan): Uint8Array => {
  const frame = Buffer.alloc(mp3FrameBytes)
  const streamBytes = (plan.frames + 1) * mp3FrameBytes
  // Sync, MPEG 2.5 layer III without CRC; 32 kbit/s, 8 kHz; joint stereo, original. 17 bytes of side information follow.
  frame.set([0xff, 0xe3, 0x48, 0x44])
  frame.write('Info', at.tag, 'latin1')
  frame.writeUInt32BE(allFields, at.tag + 4)
  frame.writeUInt32BE(plan.frames, at.tag + 8)
  frame.writeUInt32BE(streamBytes, at.tag + 12)
  // The seek position for each percent, in 1/256 of the stream: with a constant bit rate, a straight line.
  for (let percent = 0; percent < 100; percent++) {
    frame[at.tag + 16 + percent] = Math.floor((percent * 256) / 100)
  }
  frame.write('LAME3.100', at.lame, 'latin1')
  frame[at.lame + 9] = constantBitrate
  frame[at.lame + 20] = 32
  frame.writeUIntBE((plan.delaySamples << 12) | plan.paddingSamples, at.lame + 21, 3)
  frame.writeUInt32BE(streamBytes, at.lame + 28)
  frame.writeUInt16BE(crc16(frame.subarray(0, at.crc)), at.crc)
  return frame
}

/** CRC-16 with the reflected polynomial 0x8005, as LAME computes it over its tag. */
const crc16 = (bytes: Uint8Array): number => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1
  }
  return crc
}

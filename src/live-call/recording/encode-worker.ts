import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { decodeG711 } from '../../audio/g711.ts'
import { encodeMp3, type StereoChunk } from '../../audio/mp3.ts'
import { createPeakMeter } from '../../audio/peaks.ts'
import type { EncodeAnswer, EncodedAudio, EncodeTask } from './encode-worker-protocol.ts'
import {
  readSpoolHeader,
  spoolBytesPerMs,
  spoolFrameBytes,
  spoolHeaderBytes,
} from './spool-format.ts'

/**
 * The program of an encoding thread: encodes one spool after the other to MP3, with memory for ten seconds of
 * audio.
 */

const chunkBytes = 500 * spoolFrameBytes

const encode = async ({ spoolPath, mp3Path }: EncodeTask): Promise<EncodeAnswer> => {
  const audioBytes = await readAudioBytes(spoolPath)
  if (audioBytes === undefined) return { kind: 'unreadable', reason: 'The spool has no header.' }
  if (audioBytes === 0) return { kind: 'unreadable', reason: 'The spool holds no audio.' }
  return { kind: 'encoded', audio: await encodeAudio(spoolPath, mp3Path, audioBytes) }
}

const readAudioBytes = async (spoolPath: string): Promise<number | undefined> => {
  const spool = await open(spoolPath)
  try {
    return (await readSpoolHeader(spool))?.audioBytes
  } finally {
    await spool.close()
  }
}

const encodeAudio = async (
  spoolPath: string,
  mp3Path: string,
  audioBytes: number,
): Promise<EncodedAudio> => {
  const left = createPeakMeter()
  const right = createPeakMeter()
  async function* chunks(): AsyncGenerator<StereoChunk> {
    for await (const chunk of readAudio(spoolPath, audioBytes)) {
      left.add(chunk.left)
      right.add(chunk.right)
      yield chunk
    }
  }
  const mp3 = await open(mp3Path, 'w', 0o600)
  try {
    for await (const bytes of encodeMp3(chunks(), audioBytes / 2)) await mp3.appendFile(bytes)
    await mp3.sync()
  } finally {
    await mp3.close()
  }
  return {
    durationMs: audioBytes / spoolBytesPerMs,
    sizeBytes: (await stat(mp3Path)).size,
    peaks: { agent: left.finish(), contact: right.finish() },
  }
}

async function* readAudio(spoolPath: string, audioBytes: number): AsyncGenerator<StereoChunk> {
  const stream: AsyncIterable<Buffer> = createReadStream(spoolPath, {
    start: spoolHeaderBytes,
    end: spoolHeaderBytes + audioBytes - 1,
    highWaterMark: chunkBytes,
  })
  let rest: Buffer = Buffer.alloc(0)
  for await (const read of stream) {
    const bytes = rest.length === 0 ? read : Buffer.concat([rest, read])
    // A read may end between the two lanes of a sample.
    const whole = bytes.length - (bytes.length % 2)
    rest = bytes.subarray(whole)
    yield splitLanes(bytes.subarray(0, whole))
  }
}

const splitLanes = (bytes: Uint8Array): StereoChunk => {
  const samples = decodeG711('pcmu', bytes)
  const left = new Int16Array(samples.length / 2)
  const right = new Int16Array(samples.length / 2)
  for (let at = 0; at < left.length; at += 1) {
    left[at] = samples[at * 2] ?? 0
    right[at] = samples[at * 2 + 1] ?? 0
  }
  return { left, right }
}

if (parentPort === null) throw new Error('encode-worker.ts runs only as a worker thread.')
const port = parentPort
port.on('message', (task: EncodeTask) => {
  // An error ends the thread, and its caller receives it.
  void encode(task).then((answer) => port.postMessage(answer))
})

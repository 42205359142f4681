import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What ffprobe finds in an audio file. */
export const probeAudio = async (
  file: string,
): Promise<{ codec: string; channels: number; sampleRateHz: number; seconds: number }> => {
  const options = '-v error -print_format json -show_streams -show_format'.split(' ')
  const { stdout } = await run('ffprobe', [...options, file])
  const { streams, format } = JSON.parse(stdout) as {
    streams: { codec_name: string; channels: number; sample_rate: string }[]
    format: { duration: string }
  }
  const stream = streams[0]
  if (!stream) throw new Error(`ffprobe found no stream in ${file}`)
  return {
    codec: stream.codec_name,
    channels: stream.channels,
    sampleRateHz: Number(stream.sample_rate),
    seconds: Number(format.duration),
  }
}

/** What a player decodes from an audio file: both lanes at 8 kHz. */
export const decodeStereo = async (
  file: string,
): Promise<{ readonly left: Int16Array; readonly right: Int16Array }> => {
  const options = ['-v', 'error', '-i', file, '-f', 's16le', '-ac', '2', '-ar', '8000', 'pipe:1']
  const { stdout } = await run('ffmpeg', options, { encoding: 'buffer', maxBuffer: 256 * 2 ** 20 })
  const samples = new Int16Array(stdout.buffer, stdout.byteOffset, stdout.length / 2)
  const left = new Int16Array(samples.length / 2)
  const right = new Int16Array(samples.length / 2)
  for (let at = 0; at < left.length; at += 1) {
    left[at] = samples[at * 2] ?? 0
    right[at] = samples[at * 2 + 1] ?? 0
  }
  return { left, right }
}

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

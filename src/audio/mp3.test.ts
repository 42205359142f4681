import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { encodeMp3, type StereoChunk } from './mp3.ts'
import { peakOf } from './level.ts'

const frameBytes = 288
const folder = mkdtempSync(join(tmpdir(), 'outdial-mp3-'))
const file = join(folder, 'recording.mp3')

after(() => rmSync(folder, { recursive: true }))

/** Cuts both lanes into chunks of `size` samples. */
function* chunksOf(left: Int16Array, right: Int16Array, size: number): Generator<StereoChunk> {
  for (let at = 0; at < left.length; at += size) {
    yield { left: left.subarray(at, at + size), right: right.subarray(at, at + size) }
  }
}

const encode = async (chunks: Iterable<StereoChunk>, totalSamples: number): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of encodeMp3(chunks, totalSamples)) parts.push(part)
  return Buffer.concat(parts)
}

const clickAt = (sample: number, length: number): Int16Array =>
  Int16Array.from({ length }, (_, i) =>
    i >= sample && i < sample + 16 ? (i % 4 < 2 ? 28_000 : -28_000) : 0,
  )

const loudestAt = (samples: Int16Array): number => {
  const half = peakOf(samples) / 2
  return samples.findIndex((sample) => Math.abs(sample) > half)
}

/** The reference decoder; without it the test is skipped on a developer's machine and fails in CI. */
const hasFfmpeg = (t: TestContext): boolean => {
  if (spawnSync('ffmpeg', ['-version']).status === 0) return true
  assert.ok(!process.env['CI'], 'CI must have ffmpeg')
  t.skip('ffmpeg is not installed')
  return false
}

const decode = (mp3: Buffer): { left: Int16Array; right: Int16Array } => {
  writeFileSync(file, mp3)
  const options = ['-loglevel', 'error', '-i', file, '-f', 's16le', 'pipe:1']
  const { stdout, stderr, status } = spawnSync('ffmpeg', options, { maxBuffer: 2 ** 26 })
  assert.equal(status, 0, stderr.toString())
  assert.equal(stderr.toString(), '', 'ffmpeg has nothing to complain about')
  const lane = (offset: number): Int16Array =>
    Int16Array.from({ length: stdout.length / 4 }, (_, i) => stdout.readInt16LE(4 * i + offset))
  return { left: lane(0), right: lane(2) }
}

test('the stream is whole frames of 32 kbit/s behind an Info frame that counts them', async () => {
  for (const samples of [0, 1, 575, 576, 577, 1152, 8000, 80_000]) {
    const lane = clickAt(0, samples)
    const mp3 = await encode(chunksOf(lane, lane, 160), samples)
    assert.equal(mp3.length % frameBytes, 0)
    assert.equal(mp3.toString('latin1', 21, 25), 'Info')
    assert.equal(mp3.readUInt32BE(29), mp3.length / frameBytes - 1)
    assert.equal(mp3.readUInt32BE(33), mp3.length)
  }
})

test('clicks decode within a millisecond of their position, each in its lane, with the exact length', async (t) => {
  if (!hasFfmpeg(t)) return
  for (const [total, agentClick, contactClick] of [
    [24_000, 8000, 16_000],
    [23_457, 100, 23_000],
  ] as const) {
    const left = clickAt(agentClick, total)
    const right = clickAt(contactClick, total)
    const decoded = decode(await encode(chunksOf(left, right, 1600), total))
    assert.equal(decoded.left.length, total)
    assert.ok(Math.abs(loudestAt(decoded.left) - agentClick) <= 8, 'agent')
    assert.ok(Math.abs(loudestAt(decoded.right) - contactClick) <= 8, 'contact')
    assert.ok(peakOf(decoded.right.subarray(agentClick, agentClick + 100)) < 3000, 'no crosstalk')
  }
})

test('ffprobe reads the duration from the header, with no more than delay and padding in addition', async (t) => {
  if (!hasFfmpeg(t)) return
  const mp3 = await encode([], 81_600)
  writeFileSync(file, mp3)
  const options = ['-loglevel', 'error', '-show_entries', 'format=duration', '-of', 'json', file]
  const { stdout } = spawnSync('ffprobe', options)
  const { format } = JSON.parse(stdout.toString()) as { format: { duration?: string } }
  const extraSeconds = Number(format.duration) - 10.2
  assert.ok(extraSeconds >= 0 && extraSeconds < (3 * 576) / 8000, stdout.toString())
})

test('a recording that breaks off is padded with silence', async (t) => {
  if (!hasFfmpeg(t)) return
  const lane = clickAt(100, 4000)
  const decoded = decode(await encode(chunksOf(lane, lane, 160), 12_000))
  assert.equal(decoded.left.length, 12_000)
  assert.ok(peakOf(decoded.left.subarray(6000)) < 100)
})

test('lanes of different length and samples beyond the announced total are refused', async () => {
  const uneven = [{ left: new Int16Array(2), right: new Int16Array(1) }]
  await assert.rejects(encode(uneven, 2), RangeError)
  await assert.rejects(encode(chunksOf(new Int16Array(3), new Int16Array(3), 3), 2), RangeError)
})

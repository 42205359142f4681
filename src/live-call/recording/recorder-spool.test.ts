import assert from 'node:assert/strict'
import { once } from 'node:events'
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  readlink,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createRecorderSpool } from './recorder-spool.ts'
import {
  decodeSpoolHeader,
  encodeSpoolHeader,
  readSpoolHeader,
  spoolFrameBytes,
  spoolHeaderBytes,
  type SpoolHeader,
} from './spool-format.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const header: SpoolHeader = {
  version: 1,
  codec: 'pcmu',
  organizationId: 'organization' as OrganizationId,
  callId: 'call',
  startedAt: '2026-11-20T10:00:00.000Z',
}
const lane = (value: number): Uint8Array => new Uint8Array(160).fill(value)

describe('recorder spool', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-spool-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('keeps agent left and contact right, frame by frame', async () => {
    const path = join(folder, 'lanes.spool')
    const spool = createRecorderSpool(path, header)
    for (let frame = 0; frame < 120; frame += 1) spool.write(lane(frame), lane(200))
    const figures = await spool.close()
    assert.deepEqual(figures, { path, framesExpected: 120, framesWritten: 120, framesLost: 0 })
    const bytes = await readFile(path)
    assert.equal(bytes.length, spoolHeaderBytes + 120 * spoolFrameBytes)
    assert.deepEqual(decodeSpoolHeader(bytes), header)
    for (let frame = 0; frame < 120; frame += 1) {
      const at = spoolHeaderBytes + frame * spoolFrameBytes
      assert.deepEqual(
        [bytes[at], bytes[at + 1], bytes[at + 318], bytes[at + 319]],
        [frame, 200, frame, 200],
      )
    }
  })

  it('counts every frame as lost when the file cannot be created, and never throws', async () => {
    const spool = createRecorderSpool(join(folder, 'missing', 'x.spool'), header)
    for (let frame = 0; frame < 60; frame += 1) spool.write(lane(1), lane(2))
    const figures = await spool.close()
    assert.deepEqual(
      [figures.framesExpected, figures.framesWritten, figures.framesLost],
      [60, 0, 60],
    )
  })

  it('continues at the right place once a file can be created', async () => {
    const late = join(folder, 'late')
    const path = join(late, 'x.spool')
    const spool = createRecorderSpool(path, header)
    const writeSecond = (): void => {
      for (let frame = 0; frame < 50; frame += 1) spool.write(lane(1), lane(2))
    }
    // The first tries have failed by the time many later ones have.
    for (let turn = 0; turn < 50; turn += 1) await assert.rejects(open(join(late, 'y'), 'wx'))
    writeSecond()
    await mkdir(late)
    writeSecond()
    const { framesExpected, framesWritten } = await spool.close()
    assert.equal(framesExpected, 100)
    assert.ok(framesWritten >= 50)
    const bytes = await readFile(path)
    assert.deepEqual(decodeSpoolHeader(bytes), header)
    assert.equal(bytes.length, spoolHeaderBytes + 100 * spoolFrameBytes)
    assert.deepEqual([...bytes.subarray(-2)], [1, 2])
  })

  it('leaves neither file nor handle when the header cannot be written', async () => {
    const path = join(folder, 'headless.spool')
    const spool = createRecorderSpool(path, { ...header, callId: 'x'.repeat(600) })
    spool.write(lane(1), lane(2))
    const { framesExpected, framesLost } = await spool.close()
    assert.deepEqual([framesExpected, framesLost], [1, 1])
    assert.equal(existsSync(path), false)
    const handles = existsSync('/proc/self/fd') ? await readdir('/proc/self/fd') : []
    const files = await Promise.all(
      handles.map((name) => readlink(join('/proc/self/fd', name)).catch(() => '')),
    )
    assert.deepEqual(
      files.filter((file) => file.startsWith(path)),
      [],
    )
  })

  it('never overwrites the recording of another call', async () => {
    const path = join(folder, 'taken.spool')
    await writeFile(path, 'precious')
    const spool = createRecorderSpool(path, header)
    spool.write(lane(1), lane(2))
    assert.equal((await spool.close()).framesWritten, 0)
    assert.equal(await readFile(path, 'utf8'), 'precious')
  })

  it('fills frames that a slow disk lost with silence, so that the clock does not shift', async () => {
    const path = join(folder, 'slow.spool')
    const spool = createRecorderSpool(path, header)
    // More than 16 chunks of 50 frames in one turn of the event loop: the disk has no chance.
    for (let frame = 0; frame < 1000; frame += 1) spool.write(lane(1), lane(1))
    await new Promise((resolve) => setImmediate(resolve))
    const figures = await spool.close()
    assert.ok(figures.framesLost > 0)
    assert.equal(figures.framesWritten + figures.framesLost, 1000)
    const bytes = await readFile(path)
    assert.equal(bytes.length, spoolHeaderBytes + 1000 * spoolFrameBytes)
    const lost = bytes.subarray(bytes.length - figures.framesLost * spoolFrameBytes)
    assert.ok(lost.every((byte) => byte === 0xff))
  })

  it('stays readable when its process is killed', async () => {
    const path = join(folder, 'killed.spool')
    const source = `
      import { createRecorderSpool } from ${JSON.stringify(new URL('./recorder-spool.ts', import.meta.url).href)}
      const spool = createRecorderSpool(${JSON.stringify(path)}, ${JSON.stringify(header)})
      const lane = new Uint8Array(160).fill(7)
      let frames = 0
      setInterval(() => { for (let i = 0; i < 25; i += 1) { spool.write(lane, lane); frames += 1 }; if (frames === 500) process.send('recorded') }, 5)
    `
    const script = join(folder, 'killed.mjs')
    await writeFile(script, source)
    const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const file = await open(path)
    const found = await readSpoolHeader(file)
    await file.close()
    assert.deepEqual(found?.header, header)
    // Only the chunk being filled and those on their way to the disk are missing.
    assert.ok((found?.audioBytes ?? 0) >= 100 * spoolFrameBytes)
  })

  it('omits a truncated last frame, and recognizes a file without a header', async () => {
    const path = join(folder, 'torn.spool')
    await writeFile(path, encodeSpoolHeader(header))
    await appendFile(path, Buffer.alloc(spoolFrameBytes + 100))
    const file = await open(path)
    assert.equal((await readSpoolHeader(file))?.audioBytes, spoolFrameBytes)
    await truncate(path, 200)
    assert.equal(await readSpoolHeader(file), undefined)
    await file.close()
  })
})

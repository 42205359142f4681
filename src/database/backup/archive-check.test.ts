import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { verifyArchive } from './archive-check.ts'
import { maxPayloadBytes, type FrameType } from './archive-format.ts'
import { createArchiveWriter } from './archive-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'outdial-archive-'))
after(() => rmSync(folder, { recursive: true }))

/** The storage's rule; storage is not imported by this folder. */
const isObjectKey = (key: string): boolean => /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(key)

type Written = readonly [FrameType, Uint8Array | object]

const manifest: Written = [
  'M',
  {
    created_at: '2026-11-22T00:00:00Z',
    postgres: '18',
    migrations: [{ name: 'a', checksum: 'b' }],
  },
]
const bytes = (count: number): Written => ['D', Buffer.alloc(count)]
/** An empty table. */
const rows = (count: number): Written => ['D', Buffer.alloc(count, '\n')]
const table = (name: string): Written => ['T', { name, columns: ['id'] }]
const object = (key: unknown, size: unknown): Written => ['O', { key, size }]

let files = 0
/** A file with a correct checksum over any content. */
const verify = async (...frames: Written[]) => {
  const path = join(folder, String((files += 1)))
  const writer = createArchiveWriter(path)
  for (const [type, payload] of frames) await writer.write(type, payload)
  await writer.finish({ tables: {}, jobs: 0, objects: 0 })
  return verifyArchive(path, { isObjectKey })
}

describe('a backup whose checksum is right', () => {
  it('is read in place as our writer makes it, and measured', async () => {
    const { rowBytes, objectBytes } = await verify(
      manifest,
      table('calls'),
      bytes(10),
      bytes(5),
      ['J', { columns: ['identifier'] }],
      bytes(7),
      object('recordings/a.mp3', 3),
      bytes(3),
      object('recordings/b.mp3', 0),
    )
    assert.deepEqual({ rowBytes, objectBytes }, { rowBytes: 22, objectBytes: 3 })
  })

  const refused: Readonly<Record<string, readonly [RegExp, ...Written[]]>> = {
    'has no manifest': [/manifest is not at its beginning/, table('calls')],
    'has two manifests': [/manifest is not at its beginning/, manifest, manifest],
    'has a manifest that is none': [/manifest is none/, ['M', { migrations: 'all' }]],
    'is no object': [/no JSON/, ['M', Buffer.from('"text"')]],
    'has data before a table': [/data belongs to nothing/, manifest, bytes(1)],
    'has data after an empty object': [
      /data belongs to nothing/,
      manifest,
      object('a', 0),
      bytes(1),
    ],
    'has a table twice': [/calls is there twice/, manifest, table('calls'), table('calls')],
    'has jobs twice': [/jobs are there twice/, manifest, ['J', {}], ['J', {}]],
    'has a table of no name': [/no name or no columns/, manifest, ['T', { columns: [] }]],
    'has an object that says too little': [
      /larger than it says/,
      manifest,
      object('a', 2),
      bytes(3),
    ],
    'has an object that says too much': [/cut short/, manifest, object('a', 3), bytes(2)],
    'has an object that is too large': [/larger than 64 MiB/, manifest, object('a', 2 ** 27)],
    'has a row without an end': [
      /row is longer than 16 MiB/,
      manifest,
      table('calls'),
      ...Array.from({ length: 17 }, () => bytes(maxPayloadBytes)),
    ],
    'has an object of no size': [/has no size/, manifest, object('a', '3')],
    'has more tables than a schema': [
      /more than 1000 tables/,
      manifest,
      ...Array.from({ length: 1_001 }, (_, index) => table(`t${index}`)),
    ],
  }
  for (const [what, [problem, ...frames]] of Object.entries(refused))
    it(`is refused where it ${what}`, () =>
      assert.rejects(verify(...frames), { name: 'ArchiveError', message: problem }))

  for (const key of [
    '../../etc/passwd',
    '/etc/passwd',
    'a/../b',
    'a//b',
    '.hidden',
    'a\u0000b',
    '',
    7,
  ])
    it(`is refused where an object is called ${JSON.stringify(key)}`, () =>
      assert.rejects(verify(manifest, object(key, 1), bytes(1)), /no usable name/))

  it('is refused if it unpacks to far more than a backup does', () =>
    assert.rejects(
      verify(manifest, table('calls'), ...Array.from({ length: 200 }, () => rows(maxPayloadBytes))),
      /unpacks to far more/,
    ))
})

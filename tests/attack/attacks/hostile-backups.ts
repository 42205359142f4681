import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Attack } from '../stage/attack.ts'
import { frame, frameHead, magic, writeBackup } from '../stage/backup-file.ts'
import type { Stage } from '../stage/stage.ts'

const mebibyte = 1024 * 1024
const block = randomBytes(mebibyte)
/** A checksum of nothing. */
const rows = Buffer.alloc(mebibyte, '\n')
/** An endless line of a table that compresses badly. */
const endlessMebibytes = 160
const bombMebibytes = 512
/** The beginning of a genuine backup. */
type Manifest = Readonly<Record<string, unknown>>

function* repeat(piece: Buffer, count: number): Generator<Buffer> {
  for (let turn = 0; turn < count; turn += 1) yield piece
}

/** Files that no backup command wrote. `escape` is the target of those that leave their folder. */
const hostileFiles = (
  manifest: Manifest,
  escape: string,
): Readonly<Record<string, { pieces: () => Iterable<Buffer>; isSealed?: boolean }>> => {
  const start = [magic, frame('M', manifest)]
  const objectOf = (key: string, size = 4): Buffer[] => [
    ...start,
    frame('O', { key, size }),
    frame('D', Buffer.from('evil')),
  ]
  return {
    'a gzip bomb': {
      pieces: function* () {
        yield* start
        yield frame('T', { name: 'organizations', columns: ['id'] })
        yield* repeat(frame('D', rows), bombMebibytes)
      },
    },
    'a frame of 4 GiB': { pieces: () => [...start, frameHead('D', 0xffff_ffff)], isSealed: false },
    'a manifest of 4 GiB': { pieces: () => [magic, frameHead('M', 0xffff_ffff)], isSealed: false },
    'a line without an end': {
      pieces: function* () {
        yield* start
        yield frame('T', { name: 'organizations', columns: ['id'] })
        yield* repeat(
          frame('D', Buffer.from(block.map((byte) => 0x61 + (byte % 26)))),
          endlessMebibytes,
        )
      },
    },
    'rows that are none': {
      pieces: () => [
        ...start,
        frame('T', { name: 'organizations', columns: ['id'] }),
        frame('D', Buffer.from(`${'x'.repeat(100_000)}\n`)),
      ],
    },
    'an object larger than it says': { pieces: () => objectOf('recordings/a', 1) },
    'an object of 2^53 bytes': { pieces: () => objectOf('recordings/a', 2 ** 53) },
    'an object above its folder': { pieces: () => objectOf(`../../../../../..${escape}`) },
    'an object at the root': { pieces: () => objectOf(escape) },
    'an object with a NUL': { pieces: () => objectOf(`recordings/\0${escape}`) },
    'a table of PostgreSQL': {
      pieces: () => [
        ...start,
        frame('T', { name: 'pg_authid', columns: ['rolname'] }),
        frame('D', Buffer.from('evil\n')),
      ],
    },
    'a table that is a statement': {
      pieces: () => [
        ...start,
        frame('T', { name: 'organizations"; drop table calls; --', columns: ['id'] }),
      ],
    },
    'columns that are a statement': {
      pieces: () => [
        ...start,
        frame('T', { name: 'organizations', columns: ["id) from program 'id' --"] }),
        frame('D', Buffer.from('x\n')),
      ],
    },
    'a manifest of brackets': {
      pieces: () => [magic, frame('M', Buffer.from('['.repeat(mebibyte)))],
    },
    'migrations nobody has': {
      pieces: () => [
        magic,
        frame('M', { ...manifest, migrations: [{ name: '9999-x.sql', checksum: 'x' }] }),
      ],
    },
    'another version': { pieces: () => [Buffer.from('OUTDIAL-BACKUP 2\n'), ...start.slice(1)] },
    'no end': { pieces: () => start, isSealed: false },
    'bytes behind its end': {
      pieces: () => [...start, frame('E', { sha256: 'x' }), block.subarray(0, 10)],
    },
    'no manifest': { pieces: () => [magic, frame('O', { key: 'recordings/a', size: 0 })] },
  }
}

/** Restores of hostile files: refused in one sentence, in little memory, without writing anything. */
export const hostileBackups: Attack = {
  name: 'hostile-backups',
  goal: 'a restore refuses what no backup holds, in 150 MB, and leaves the installation empty',
  isLong: true,
  async run(stage, limits) {
    const folder = mkdtempSync(join(tmpdir(), 'outdial-attack-backup-'))
    const escape = join(folder, 'escaped')
    const empty = await stage.openEmpty()
    const problems: string[] = []
    try {
      const good = join(folder, 'good')
      const told = await stage.product.run('backup', good)
      if (!/credentials/.test(told.stdout)) problems.push('a backup does not say what it holds')
      const calmMb = (await empty.run('org', 'list')).peakMb
      const plain = join(folder, 'plain')
      writeFileSync(plain, 'this is no backup\n'.repeat(1_000))
      const manifest = manifestOf(good)
      let [refused, peakMb] = [0, 0]
      const tryToRestore = async (name: string, path: string): Promise<void> => {
        const { status, stderr, peakMb: mb } = await empty.run('restore', path)
        peakMb = Math.max(peakMb, mb - calmMb)
        if (status === 1 && isSentence(stderr)) refused += 1
        else problems.push(`${name}: ended with ${status}: ${stderr.slice(0, 200)}`)
        if (existsSync(escape)) problems.push(`${name} left its folder`)
      }
      await tryToRestore('a text', plain)
      await tryToRestore('a folder', folder)
      for (const [name, { pieces, isSealed }] of Object.entries(hostileFiles(manifest, escape))) {
        const path = join(folder, 'hostile')
        await writeBackup(path, pieces(), isSealed)
        await tryToRestore(name, path)
        rmSync(path)
      }
      if (peakMb > limits.memoryMb) problems.push(`a restore took ${peakMb.toFixed(0)} MB`)
      problems.push(...(await judgeGood(stage, empty, good)))
      return {
        figure: `${refused} files refused, +${peakMb.toFixed(0)} MB`,
        problems,
        figures: { memoryMb: peakMb },
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

type Empty = Awaited<ReturnType<Stage['openEmpty']>>

/**
 * A genuine backup still restores, so the refusals above had a reason, and the refused files left nothing behind.
 */
const judgeGood = async ({ tenant }: Stage, empty: Empty, good: string): Promise<string[]> => {
  const before = await empty.run('org', 'list', '--json')
  const problems: string[] = []
  if (before.status === 0 && before.stdout.trim() !== '[]')
    problems.push(`what was refused left organizations: ${before.stdout.slice(0, 100)}`)
  const restored = await empty.run('restore', good)
  const after = await empty.run('org', 'list', '--json')
  if (restored.status !== 0) problems.push(`a good backup was refused: ${restored.stderr}`)
  else if (!after.stdout.includes(tenant.id)) problems.push('a good backup came back incomplete')
  return problems
}

/** One sentence or two, and no stack. */
const isSentence = (text: string): boolean =>
  text.trim() !== '' && text.length < 600 && !/^\s+at /m.test(text)

const manifestOf = (path: string): Manifest => {
  const bytes = gunzipSync(readFileSync(path))
  const length = bytes.readUInt32BE(magic.length + 1)
  return JSON.parse(bytes.toString('utf8', magic.length + 5, magic.length + 5 + length)) as Manifest
}

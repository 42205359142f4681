import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkObjectKey, type ObjectStorage } from './object-storage.ts'

/** Only the service's user may read: objects contain conversations. */
const folderMode = 0o700
const fileMode = 0o600

/**
 * Objects as files below a folder that no other user may read. One rename publishes an object after its bytes are
 * on disk, so a crash leaves either the old object or the new one.
 */
export const createFolderStorage = (folder: string): ObjectStorage => {
  const pathOf = (key: string): string => join(folder, checkObjectKey(key))
  return {
    put: async (key, source) => {
      const path = pathOf(key)
      const unfinished = `${path}.${randomUUID()}.part`
      await mkdir(dirname(path), { recursive: true, mode: folderMode })
      try {
        if ('file' in source) await copyFile(source.file, unfinished)
        else await writeFile(unfinished, source.bytes, { mode: fileMode })
        await chmod(unfinished, fileMode)
        await sync(unfinished)
        await rename(unfinished, path)
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
      await sync(dirname(path))
    },
    open: async (key) => {
      const path = pathOf(key)
      const found = await stat(path).catch(ifPresent)
      if (!found?.isFile()) return undefined
      return {
        size: found.size,
        stream: async ({ start, end }) => createReadStream(path, { start, end }),
      }
    },
    delete: (key) => rm(pathOf(key), { force: true }),
  }
}

const sync = async (path: string): Promise<void> => {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

const ifPresent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  return undefined
}

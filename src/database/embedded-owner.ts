import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { DatabaseSetupError } from './setup-error.ts'

/** The operating-system user PostgreSQL runs as. Without ids it runs as ourselves. */
export interface Owner {
  readonly name?: string
  readonly uid?: number
  readonly gid?: number
}

/** Users PostgreSQL may run as when we are root, which it refuses; the first that exists is taken. */
const unprivilegedUsers = ['outdial', 'postgres', 'nobody']

/**
 * Ourselves, unless we are root: then the owner of the cluster folder if it exists, else an existing
 * unprivileged user. Throws `DatabaseSetupError` when there is none.
 */
export const findOwner = (clusterFolder: string): Owner => {
  if (process.getuid?.() !== 0) return {}
  const folder = statSync(clusterFolder, { throwIfNoEntry: false })
  if (folder && folder.uid !== 0) return { uid: folder.uid, gid: folder.gid }
  const users = readUsers()
  for (const name of unprivilegedUsers) {
    const user = users.get(name)
    if (user) return { name, ...user }
  }
  throw new DatabaseSetupError(
    `PostgreSQL refuses to run as root, and none of the users ${unprivilegedUsers.join(', ')} exists: ` +
      'create one (useradd --system outdial), run as a normal user, or set DATABASE_URL.',
  )
}

const readUsers = (): Map<string, { uid: number; gid: number }> => {
  const users = new Map<string, { uid: number; gid: number }>()
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && Number(uid) > 0) users.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  return users
}

/** The spawn options that make a child run as `owner`; libuv also drops our supplementary groups. */
export const runAs = ({ uid, gid }: Owner): { uid?: number; gid?: number } =>
  uid === undefined || gid === undefined ? {} : { uid, gid }

/** Whether `owner` can enter the folder, which it cannot below a home that only root may enter. */
export const canEnter = (owner: Owner, folder: string): boolean =>
  owner.uid === undefined ||
  spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...runAs(owner), cwd: '/' }).status ===
    0

import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { DatabaseSetupError } from './setup-error.ts'

/** PostgreSQL's operating-system user. Without ids it is our own. */
export interface Owner {
  readonly name?: string
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL's user when we are root, which PostgreSQL refuses. No other program runs as this user. */
const ownUser = 'outdial'

/** A user without home, password and shell, as useradd of most systems and adduser of BusyBox create it. */
const waysToMakeUser = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'],
  ['adduser', '-S', '-D', '-H', '-s', '/sbin/nologin'],
] as const

/** Several simultaneous first starts find the list of users locked. */
const maxAttemptsToMakeUser = 5

/**
 * Our own user, unless we are root: then the owner of the cluster folder if it exists, else the user `outdial`,
 * which is created if missing. Throws `DatabaseSetupError` when it cannot be created.
 */
export const findOwner = (clusterFolder: string): Owner => {
  if (process.getuid?.() !== 0) return {}
  const folder = statSync(clusterFolder, { throwIfNoEntry: false })
  if (folder && folder.uid !== 0) return { uid: folder.uid, gid: folder.gid }
  const user = readUsers().get(ownUser) ?? makeOwnUser()
  if (user) return { name: ownUser, ...user }
  throw new DatabaseSetupError(
    `PostgreSQL refuses to run as root, and a user ${ownUser} for it could not be made: ` +
      `make one (useradd --system ${ownUser}), start as a normal user, or set DATABASE_URL.`,
  )
}

const makeOwnUser = (): { uid: number; gid: number } | undefined => {
  for (let attempt = 0; attempt < maxAttemptsToMakeUser; attempt += 1) {
    for (const [command, ...flags] of waysToMakeUser) {
      spawnSync(command, [...flags, ownUser], { cwd: '/', stdio: 'ignore' })
      const user = readUsers().get(ownUser)
      if (user) return user
    }
  }
  return undefined
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

/** Whether `owner` can enter the folder; below a home that only root may enter it cannot. */
export const canEnter = (owner: Owner, folder: string): boolean =>
  owner.uid === undefined ||
  spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...runAs(owner), cwd: '/' }).status ===
    0

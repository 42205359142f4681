import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, existsSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** `service` holds the instance while it runs, `command` only for a moment. */
export type HolderKind = 'service' | 'command'

interface Holder {
  readonly pid: number
  readonly kind: HolderKind
}

export interface InstanceLock {
  /** Waits until the guests have gone, at most `timeoutMs`, runs `last`, and releases the lock. */
  release(timeoutMs: number, last: () => Promise<void>): Promise<void>
}

/** A guest keeps a holder of kind `command` from stopping meanwhile. */
export interface GuestTicket extends Holder {
  leave(): void
}

type LockAttempt =
  | { readonly kind: 'held'; readonly lock: InstanceLock }
  | { readonly kind: 'refused'; readonly ticket: GuestTicket }

const maxContentions = 20
/** A stopped holder (SIGSTOP) accepts connections but does not reply: it counts as holding. */
const answerTimeoutMs = 250

/**
 * Takes the folder for this process, or reports its holder. The lock is a listening socket: it ends with the
 * process after any kind of death, and is visible from other containers that share the folder.
 *
 * Invariant: at most one process holds it. Each process listens first and checks the others afterwards, so of two
 * contenders the later one sees the other; both may withdraw, never both hold. A socket file without a listener is
 * removed; a process that finds its own file removed starts over.
 */
export const acquireInstanceLock = async (
  folder: string,
  kind: HolderKind,
): Promise<LockAttempt> => {
  for (let contention = 0; contention < maxContentions; contention++) {
    const own = await openEntry(folder, kind)
    const rival = await findRival(folder, own.name)
    if (!rival && existsSync(join(folder, own.name))) return { kind: 'held', lock: own.hold() }
    await own.withdraw()
    if (rival?.isHolding) return { kind: 'refused', ticket: rival.ticket }
    rival?.ticket.leave()
    await sleep(Math.random() * 50)
  }
  throw new Error(`${folder} stays contended.`)
}

const entryPattern = /^owner-(\d+)-[0-9a-f]{8}$/

interface Entry {
  readonly name: string
  hold(): InstanceLock
  withdraw(): Promise<void>
}

const openEntry = async (folder: string, kind: HolderKind): Promise<Entry> => {
  const name = `owner-${process.pid}-${randomBytes(4).toString('hex')}`
  const guests = new Set<Socket>()
  let isHolding = false
  const server = createServer((guest) => {
    guests.add(guest)
    guest.on('error', () => {})
    guest.on('close', () => guests.delete(guest))
    guest.resume()
    guest.write(isHolding ? `holds ${kind}\n` : 'contends\n')
  })
  await listen(server, join(folder, name))
  // The lock alone keeps no process running.
  server.unref()
  const close = async (): Promise<void> => {
    rmSync(join(folder, name), { force: true })
    for (const guest of guests) guest.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    name,
    withdraw: close,
    hold() {
      isHolding = true
      return {
        async release(timeoutMs, last) {
          const deadlineMs = performance.now() + timeoutMs
          while (guests.size > 0 && performance.now() < deadlineMs) await sleep(10)
          try {
            await last()
          } finally {
            await close()
          }
        },
      }
    },
  }
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })

interface Rival {
  readonly isHolding: boolean
  readonly ticket: GuestTicket
}

/** The holder if there is one, else a contender, else undefined; removes the files of dead processes. */
const findRival = async (folder: string, ownName: string): Promise<Rival | undefined> => {
  let contender: Rival | undefined
  for (const name of readdirSync(folder)) {
    const pid = Number(entryPattern.exec(name)?.[1])
    if (name === ownName || Number.isNaN(pid)) continue
    const rival = await ask(join(folder, name), pid)
    if (!rival) rmSync(join(folder, name), { force: true })
    else if (rival.isHolding) {
      contender?.ticket.leave()
      return rival
    } else if (contender) rival.ticket.leave()
    else contender = rival
  }
  return contender
}

const ask = (path: string, pid: number): Promise<Rival | undefined> =>
  new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isHolding: boolean, kind: HolderKind): void => {
      clearTimeout(timer)
      socket.unref()
      resolve({ isHolding, ticket: { pid, kind, leave: () => socket.destroy() } })
    }
    const timer = setTimeout(() => answer(true, 'service'), answerTimeoutMs)
    const gone = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(undefined)
    }
    socket.on('error', gone)
    socket.on('close', gone)
    socket.once('data', (line) => {
      const text = line.toString()
      answer(text.startsWith('holds'), text.includes('command') ? 'command' : 'service')
    })
  })

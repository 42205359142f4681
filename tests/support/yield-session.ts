import { readFileSync, writeFileSync } from 'node:fs'

/** A nine-times smaller share of a processor than others get. */
export const yieldingNiceness = 10

/**
 * Makes the session that this process leads yield the processors. Where the kernel gives each session an equal share
 * (autogroups, sched(7)), the niceness of a process counts only within its session, so the session needs one too.
 * Elsewhere there is nothing to do: `nice` suffices.
 */
export const yieldSession = (pid: number): void => {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(yieldingNiceness))
  } catch {
    // The kernel has no such groups, or the process has ended.
  }
}

/** The same for each child of this process that leads a session of its own. */
export const yieldChildSessions = (): void => {
  for (const pid of childrenOf(process.pid)) if (sessionOf(pid) === pid) yieldSession(pid)
}

const childrenOf = (pid: number): number[] => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return children.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Field 6 of proc(5) stat; the second, the program's name in parentheses, may hold anything. */
const sessionOf = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3])
  } catch {
    return undefined
  }
}

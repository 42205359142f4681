import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import type { Adoption } from '../call/adopt-call.ts'
import { readSpoolHeader, spoolSuffix } from './spool-format.ts'

export interface AdoptSpoolsDependencies {
  readonly spoolFolder: string
  /**
   * Creates a recording for an ended call without one, with its encoding job for this node, in one transaction.
   * `kept` while the call is live or its job is pending; `done` when its recording is settled; `unknown` when there
   * is no such call.
   */
  adopt(call: CallKey): Promise<Adoption>
  readonly logger: Logger
}

/** A live recorder writes each second: a spool this recent still has one. */
const minAgeMs = 5_000
const sweepPeriodMs = 15_000
/** The next sweep takes the rest. */
const maxSpoolsPerSweep = 1_000

/**
 * Finds recordings that a crash left behind: a spool whose call was not ended by its recorder. Runs at start and
 * then repeatedly, because the call of a killed process ends only when its lease has expired.
 */
export const createSpoolSweeper = (deps: AdoptSpoolsDependencies): Service => {
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let isStopped = false

  const sweep = async (): Promise<void> => {
    await adoptSpools(deps).catch((error: unknown) =>
      deps.logger.error({ err: error }, 'spools could not be swept'),
    )
    if (!isStopped) timer = setTimeout(run, sweepPeriodMs)
  }
  const run = (): void => {
    sweeping = sweep()
  }

  return {
    start: async () => {
      if (timer === undefined && !isStopped) run()
      await sweeping
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await sweeping
    },
  }
}

/** One sweep. Exported for tests; `nowMs` is compared with the files' times. */
export const adoptSpools = async (
  deps: AdoptSpoolsDependencies,
  nowMs: number = Date.now(),
): Promise<void> => {
  const names = (await readdir(deps.spoolFolder)).filter((name) => name.endsWith(spoolSuffix))
  for (const name of names.slice(0, maxSpoolsPerSweep)) {
    const path = join(deps.spoolFolder, name)
    const found = await stat(path).catch(() => undefined)
    if (found === undefined || nowMs - found.mtimeMs < minAgeMs) continue
    await settleSpool(deps, path)
  }
}

const settleSpool = async (deps: AdoptSpoolsDependencies, path: string): Promise<void> => {
  const call = await readOwner(path)
  if (call === undefined) {
    deps.logger.warn({ path }, 'a spool without a header was deleted')
    return rm(path, { force: true })
  }
  const state = await deps.adopt(call)
  if (state === 'adopted') deps.logger.info({ call_id: call.callId }, 'a spool was adopted')
  if (state === 'done') await rm(path, { force: true })
  if (state === 'unknown') deps.logger.warn({ path }, 'a spool belongs to no call of this database')
}

const readOwner = async (path: string): Promise<CallKey | undefined> => {
  const file = await open(path)
  try {
    const found = await readSpoolHeader(file)
    return found && { organizationId: found.header.organizationId, callId: found.header.callId }
  } finally {
    await file.close()
  }
}

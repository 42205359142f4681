import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  createApplicationPages,
  type ApplicationPages,
  type BuildState,
} from '../http/application-pages.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'

const root = join(import.meta.dirname, '..', '..')

/** What of a build's output is kept for the log. */
const maxOutputCharacters = 4_000

interface DashboardBuild extends Service {
  readonly pages: Pick<ApplicationPages, 'find'>
}

/**
 * The dashboard's files. The packed product brings them; a checkout builds them beside the running service, at the lowest
 * priority, when their sources have changed. `start` does not wait for the build: pages say meanwhile that it goes on.
 */
export const createDashboardBuild = (
  logger: Logger,
  {
    dist = join(root, 'dashboard', 'dist'),
    builder = join(root, 'scripts', 'build-dashboard.mjs'),
  } = {},
): DashboardBuild => {
  let state: BuildState = { kind: 'building' }
  let child: ChildProcess | undefined
  const pages = createApplicationPages(dist, () => state)

  const load = async (): Promise<void> => {
    await pages.load()
    state = { kind: 'built' }
  }

  const build = async (): Promise<void> => {
    child = spawn(process.execPath, [builder], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    const { status, output } = await endOf(child)
    child = undefined
    if (status === 0) return load()
    if (state.kind === 'building') state = { kind: 'failed', why: whyFailed }
    logger.warn({ status, output }, 'the dashboard could not be built')
  }

  return {
    pages,
    start: async () => {
      if (existsSync(join(dist, 'index.html'))) await load()
      if (existsSync(builder))
        build().catch((error: unknown) =>
          logger.error({ err: error }, 'the dashboard is not served'),
        )
    },
    stop: async () => {
      if (!child) return
      const gone = endOf(child)
      // The group: npm and the bundler run below the builder.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await gone
    },
  }
}

const whyFailed =
  'Its packages could not be installed, or its sources not be compiled: the log of the service says which.'

const endOf = (child: ChildProcess): Promise<{ status: number | null; output: string }> =>
  new Promise((resolve) => {
    let output = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-maxOutputCharacters)
    })
    child.once('error', (error) => resolve({ status: null, output: error.message }))
    child.once('close', (status) => resolve({ status, output }))
  })

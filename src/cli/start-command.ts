import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { RunningOutdial } from '../compose/all-in-one.ts'
import { liveRemedies } from '../operator/live-remedies.ts'
import { clusterOf } from '../database/embedded-folders.ts'
import { createLogger } from '../runtime/logger.ts'
import type { CliContext } from './cli-context.ts'
import { countDown } from './terminal/count-down.ts'
import { show, tell, warn, type Lines, type OutputOptions } from './terminal/output.ts'
import { isSandboxAgentInUse, sandboxEnvPath, writeSandboxEnv } from './sandbox-env.ts'

/** Time limit for calls that a second signal hangs up. */
const hangUpLimitMs = 10_000

/** `outdial start`: every role in one process, until SIGTERM or SIGINT. */
export const addStartCommand = (program: Command, context: CliContext): void => {
  program
    .command('start')
    .description('run everything in one process')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const { config } = context
      // With --json, standard output has only the one document.
      const say = options.json ? warn : tell
      const stopSignals = createStopSignals()
      const cutShort = new AbortController()
      void stopSignals.second.then(async () => {
        cutShort.abort()
        await delay(hangUpLimitMs)
        process.exit(130)
      })
      const logger = createLogger(config.program.logLevel)
      if (context.isTerminal && !options.json)
        tell(context, `Starting Outdial, with its data in ${placeOf(context)}.`)
      const { startAllInOne } = await import('../compose/all-in-one.ts')
      // Until it takes work, a signal simply ends the process.
      const outdial = await startAllInOne(config, logger, stopSignals.listen)
      const envFile = keepFirstStart(outdial, context)
      const hasAgent = outdial.firstStart !== undefined || (await hasSandboxAgent(context, envFile))
      show(context, options, summaryOf(outdial, context), () =>
        welcome(outdial, context, { envFile, hasAgent }),
      )
      await stopSignals.first
      say(
        context,
        'Stopping: live calls may finish; a second signal hangs them up, a third ends at once.',
      )
      const over = new AbortController()
      const limitMs = config.program.drainSeconds * 1000
      const { liveCalls } = outdial
      const counting = countDown(
        { liveCalls, limitMs, tell: (text) => say(context, text) },
        over.signal,
      )
      await outdial.stop(limitMs, cutShort.signal)
      over.abort()
      await counting
      say(context, 'Stopped. Queued work is kept for the next start.')
      process.exit(cutShort.signal.aborted ? 130 : 0)
    })
}

/** Both listeners exist from the beginning: two quick signals must not find a moment without one. */
const createStopSignals = () => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let count = 0
  const onSignal = (): void => {
    count += 1
    if (count === 1) first.resolve()
    else if (count === 2) second.resolve()
    else process.exit(130)
  }
  const listen = (): void => {
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  }
  return { listen, first: first.promise, second: second.promise }
}

const placeOf = ({ config }: CliContext): string =>
  config.store.databaseUrl === undefined ? config.store.dataFolder : 'the database of DATABASE_URL'

/** The database's place from an earlier version, if it is outside the data folder. */
const databaseElsewhere = ({ config }: CliContext): string | undefined => {
  if (config.store.databaseUrl !== undefined) return undefined
  const cluster = clusterOf(config.store.dataFolder)
  return cluster.startsWith(config.store.dataFolder) ? undefined : cluster
}

/** The file with the sandbox's variables; undefined if it could not be written or was removed. */
const keepFirstStart = (
  { firstStart, apiUrl }: RunningOutdial,
  context: CliContext,
): string | undefined => {
  const dataFolder = context.config.store.dataFolder
  try {
    if (firstStart) writeSandboxEnv(dataFolder, { apiUrl, ...firstStart })
  } catch (error) {
    warn(context, `sandbox.env was not written: ${(error as Error).message}.`)
  }
  return sandboxEnvPath(dataFolder, process.cwd())
}

const summaryOf = (outdial: RunningOutdial, context: CliContext) => ({
  api_url: outdial.apiUrl,
  media_url: outdial.mediaUrl,
  dashboard_url: outdial.dashboardUrl,
  ...(outdial.setupUrl !== undefined && { setup_url: outdial.setupUrl }),
  carrier: outdial.trunkName ?? 'the sandbox carrier',
  live_organizations: { count: outdial.liveOrganizations, lacks: outdial.lacks },
  data: placeOf(context),
  ...(outdial.firstStart && {
    first_start: {
      api_key: outdial.firstStart.key,
      organization_id: outdial.firstStart.organizationId,
      agent_id: outdial.firstStart.agentId,
      contact_id: outdial.firstStart.contactId,
    },
  }),
})

/** Nothing of this may keep a service that runs from saying so. */
const hasSandboxAgent = async (context: CliContext, envFile?: string): Promise<boolean> => {
  if (envFile === undefined) return true
  const { dataFolder } = context.config.store
  return context.withDatabase((db) => isSandboxAgentInUse(db, dataFolder)).catch(() => true)
}

interface SandboxFile {
  readonly envFile: string | undefined
  /** Whether its agent still takes calls. */
  readonly hasAgent: boolean
}

const welcome = (outdial: RunningOutdial, context: CliContext, sandbox: SandboxFile): Lines => {
  const elsewhere = databaseElsewhere(context)
  return [
    'Outdial is running.',
    '',
    `  API        ${outdial.apiUrl}   (reference: ${outdial.apiUrl}/docs)`,
    `  Downloads  ${outdial.mediaUrl}`,
    `  Dashboard  ${outdial.dashboardUrl}`,
    ...(outdial.setupUrl === undefined
      ? []
      : [`  Set up     ${outdial.setupUrl}   (valid until the first owner stands)`]),
    ...linesOf(outdial).map((line) => `  ${line}`),
    `  Data in    ${placeOf(context)}`,
    ...(elsewhere === undefined ? [] : [`  Database   ${elsewhere}`]),
    ...(outdial.firstStart
      ? ['', ...firstCall(outdial.apiUrl, outdial.firstStart, sandbox.envFile)]
      : nextTime(sandbox)),
  ]
}

/** The route of calls, and what live organizations wait for. */
const linesOf = ({ trunkName, lacks, liveOrganizations }: RunningOutdial): string[] => [
  `Calls      of sandbox organizations go to the sandbox carrier${trunkName === undefined ? '' : ', of live ones to ' + trunkName}`,
  ...(liveOrganizations > 0
    ? lacks.map((lack) => `Waiting    calls of live organizations (${lack}): ${liveRemedies[lack]}`)
    : []),
]

const firstCall = (
  apiUrl: string,
  { key, organizationId, agentId, contactId }: NonNullable<RunningOutdial['firstStart']>,
  envFile: string | undefined,
): string[] => [
  `  API key    ${key}   (shown once)`,
  '  It is of a sandbox organization, whose calls never reach a phone, whatever trunk is configured. To ring phones:',
  '  ./outdial org create --name NAME --mode live',
  '  A number has one live call at a time, others wait: for many calls at once use many numbers (docs/sandbox.md).',
  '',
  'Place the first call from another terminal:',
  '',
  `curl -s ${apiUrl}/calls \\`,
  `  -H 'Authorization: Bearer ${key}' \\`,
  `  -H 'Content-Type: application/json' -H "Idempotency-Key: call-$(date +%s)" \\`,
  `  -d '{"agent_id": "${agentId}", "contact_id": "${contactId}"}'`,
  '',
  'Then see what became of it:',
  '',
  `./outdial call list --org ${organizationId}`,
  ...(envFile === undefined
    ? []
    : [
        '',
        `API, KEY, ORG, AGENT and CONTACT of these commands stand in ${envFile}: load them with`,
        '',
        `. ${dotPath(envFile)}`,
      ]),
]

const nextTime = ({ envFile, hasAgent }: SandboxFile): string[] => {
  if (envFile === undefined) return []
  const lines = [`  Sandbox    . ${dotPath(envFile)}   sets API, KEY, ORG, AGENT and CONTACT`]
  if (!hasAgent)
    lines.push(
      '             Its AGENT is archived or gone: set AGENT to one of ./outdial agent list',
    )
  return lines
}

/** The shell searches PATH for a name without a slash. */
const dotPath = (file: string): string => (file.includes('/') ? file : `./${file}`)

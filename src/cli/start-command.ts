import { once } from 'node:events'
import type { Command } from 'commander'
import { startAllInOne, type RunningOutdial } from '../compose/all-in-one.ts'
import { createLogger } from '../runtime/logger.ts'
import type { CliContext } from './cli-context.ts'

/** `outdial start`: every role in one process, until SIGTERM or SIGINT. */
export const addStartCommand = (program: Command, context: CliContext): void => {
  program
    .command('start')
    .description('run everything in one process')
    .action(async () => {
      const { config } = context
      const outdial = await startAllInOne(config, createLogger(config.OUTDIAL_LOG_LEVEL))
      context.print(welcome(outdial, context))
      await askedToStop()
      context.print('Stopping: live calls may finish; a second signal ends at once.')
      const secondSignal = askedToStop().then(() => process.exit(130))
      await Promise.race([outdial.stop(config.OUTDIAL_DRAIN_SECONDS * 1000), secondSignal])
      context.print('Stopped. Queued work is kept for the next start.')
      process.exit(0)
    })
}

const askedToStop = async (): Promise<void> => {
  const settled = new AbortController()
  const { signal } = settled
  await Promise.race([once(process, 'SIGTERM', { signal }), once(process, 'SIGINT', { signal })])
  settled.abort()
}

const welcome = (outdial: RunningOutdial, { config }: CliContext): string =>
  [
    'Outdial is running.',
    '',
    `  API        ${outdial.apiUrl}   (reference: ${outdial.apiUrl}/docs)`,
    `  Downloads  ${outdial.mediaUrl}`,
    `  Calls go to ${outdial.carrierName}`,
    `  Data in    ${config.DATABASE_URL === undefined ? config.OUTDIAL_DATA : 'the database of DATABASE_URL'}`,
    ...(outdial.firstStart ? ['', ...firstCall(outdial.apiUrl, outdial.firstStart)] : []),
  ].join('\n')

const firstCall = (
  apiUrl: string,
  { key, agentId, contactId }: NonNullable<RunningOutdial['firstStart']>,
): string[] => [
  `  API key    ${key}   (shown once)`,
  '',
  'Place the first call:',
  '',
  `curl -s ${apiUrl}/calls \\`,
  `  -H 'Authorization: Bearer ${key}' \\`,
  `  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-call' \\`,
  `  -d '{"agent_id": "${agentId}", "contact_id": "${contactId}"}'`,
  '',
  'Then read it with the id of the answer:',
  '',
  `curl -s ${apiUrl}/calls/ID -H 'Authorization: Bearer ${key}'`,
]

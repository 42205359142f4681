import { appendFileSync } from 'node:fs'
import { createLogger } from '../../../src/runtime/logger.ts'
import type { JournalEntry } from '../../../src/telephony/sandbox/call-journal.ts'
import type { Persona } from '../../../src/telephony/sandbox/personas.ts'
import { createSandboxServer } from '../../../src/telephony/sandbox/sandbox-server.ts'

/**
 * Runs the sandbox carrier as its own process, for tests that kill the dialling side: `PROGRAM PORT JOURNAL`.
 * Appends one JSON line per event to JOURNAL, prints one line with its port when it is ready, and ends on SIGTERM
 * or SIGINT.
 */
export const runJournaledCarrier = async (
  program: string,
  personaFor?: (number: string) => Persona,
): Promise<void> => {
  const [portText = '', journalPath] = process.argv.slice(2)
  const port = Number(portText)
  if (!/^\d{1,5}$/.test(portText) || port > 65_535 || journalPath === undefined) {
    process.stderr.write(`usage: ${program} PORT JOURNAL\n`)
    process.exit(2)
  }
  const server = createSandboxServer({
    port,
    ...(personaFor && { personaFor }),
    onJournalEntry: (entry) => append(journalPath, entry),
    logger: createLogger('warn'),
  })
  await server.start()
  process.stdout.write(`${JSON.stringify({ port: server.port })}\n`)

  const stop = (): void => {
    void server.stop().then(() => process.exit(0))
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

// Written synchronously: once a response has left, the kernel has its line, and no crash loses it.
const append = (journalPath: string, entry: JournalEntry): void =>
  appendFileSync(
    journalPath,
    `${JSON.stringify({
      at: new Date().toISOString(),
      event: entry.event,
      call_id: entry.callId,
      sip_call_id: entry.sipCallId,
      number: entry.number,
      detail: entry.detail,
    })}\n`,
  )

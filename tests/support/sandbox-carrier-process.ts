import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { JournalEvent } from '../../src/telephony/sandbox/call-journal.ts'
import { sandboxCredentials } from '../../src/telephony/sandbox/personas.ts'

export interface JournalLine {
  readonly event: JournalEvent
  readonly call_id: string
  readonly sip_call_id: string
  readonly number?: string
  readonly at: string
  /** The pressed key, or the target of a transfer. */
  readonly detail?: string
}

const programs = {
  /** The sandbox's own numbers. */
  own: join(import.meta.dirname, 'telephony/sandbox-carrier-main.ts'),
  /** A hundred numbers for each persona besides (many-numbers.ts). */
  many: join(import.meta.dirname, 'many-numbers-carrier.ts'),
} as const

/** The sandbox carrier as its own process: its journal survives any kill of the dialling side. */
export const startSandboxCarrier = async (
  journalPath: string,
  numbers: keyof typeof programs = 'own',
) => {
  const child = spawn(process.execPath, [programs[numbers], '0', journalPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { port } = JSON.parse(line) as { port: number }
  const { username, password } = sandboxCredentials
  return {
    trunk: `sip:${username}:${password}@127.0.0.1:${port}`,
    journal: (): JournalLine[] =>
      readFileSync(journalPath, { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text) as JournalLine),
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

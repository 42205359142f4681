import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApiClient } from './api-client.ts'
import { askOutdial, type OutdialProcess } from './outdial-process.ts'
import type { SandboxTenant } from './sandbox-tenant.ts'

/** The settings that send live organizations' calls to this trunk, with the scripted engine. */
export const liveSettings = (trunk: string): Record<string, string> => ({
  OUTDIAL_SIP_TRUNK: trunk,
  OUTDIAL_CALLER_ID: '+12025550199',
  OUTDIAL_ENGINE: 'sandbox',
})

const allHours = {
  time_zone: 'Etc/UTC',
  windows: [
    {
      weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
      start_time: '00:00',
      end_time: '24:00',
    },
  ],
  allowed_countries: 'all',
}

const agentFile = {
  name: 'Live agent',
  greeting:
    'Hello {{contact.name|there}}, this is the Outdial assistant. Is this a good time to talk?',
  prompt: 'You call to confirm an appointment. Say goodbye and end the call when it is settled.',
  voicemail: 'hang_up',
  max_duration_seconds: 300,
}

/** A live organization that may call at all hours, created as an operator would, with its own agent and client. */
export const openLiveTenant = async ({ env, apiUrl }: OutdialProcess): Promise<SandboxTenant> => {
  const fileOf = (name: string, content: object): string => {
    const path = join(env['OUTDIAL_DATA'] ?? '', name)
    writeFileSync(path, JSON.stringify(content))
    return path
  }
  const { id: org } = await askOutdial<{ id: string }>(
    env,
    ...`org create --name Live --mode live --concurrency 100 --policy`.split(' '),
    fileOf('policy.json', allHours),
  )
  const { id: agent } = await askOutdial<{ id: string }>(
    env,
    ...`agent create --org ${org} --file`.split(' '),
    fileOf('live-agent.json', agentFile),
  )
  const { secret } = await askOutdial<{ secret: string }>(
    env,
    ...`key create --org ${org} --name test --scopes all`.split(' '),
  )
  return { org, agent, secret, api: createApiClient(apiUrl, secret) }
}

import assert from 'node:assert/strict'
import { createApiClient, type ApiClient } from './api-client.ts'
import { askOutdial, type OutdialProcess } from './outdial-process.ts'

/** The organization and the agent of the first start, and a client with a new key for all scopes. */
export interface SandboxTenant {
  readonly org: string
  readonly agent: string
  /** Of the new key. */
  readonly secret: string
  readonly api: ApiClient
}

export const openSandboxTenant = async ({
  env,
  apiUrl,
}: OutdialProcess): Promise<SandboxTenant> => {
  const org = await sandboxOrganization(env)
  const agents = await askOutdial<{ id: string }[]>(env, 'agent', 'list', '--org', org)
  const agent = agents[0]?.id ?? assert.fail('the first start makes an agent')
  const { secret } = await askOutdial<{ secret: string }>(
    env,
    ...`key create --org ${org} --name test --scopes all`.split(' '),
  )
  return { org, agent, secret, api: createApiClient(apiUrl, secret) }
}

export const sandboxOrganization = async (
  env: Readonly<Record<string, string>>,
): Promise<string> => {
  const organizations = await askOutdial<{ id: string }[]>(env, 'org', 'list')
  return organizations[0]?.id ?? assert.fail('the first start makes an organization')
}

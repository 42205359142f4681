import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import type { Queryable } from '../database/database.ts'
import { findAgent } from '../domains/agents/agent-store.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import { isOrganizationId } from '../domains/organizations/organization-id.ts'

/** What the first start created, as shell variables. */
interface SandboxVariables {
  readonly apiUrl: string
  readonly organizationId: OrganizationId
  readonly agentId: string
  readonly contactId: string
  /** The key's secret: only this file contains it. */
  readonly key: string
}

const fileIn = (dataFolder: string): string => join(dataFolder, 'sandbox.env')

/** The file's path relative to `workingFolder`; undefined if the installation has none. */
export const sandboxEnvPath = (dataFolder: string, workingFolder: string): string | undefined => {
  const file = fileIn(dataFolder)
  if (!existsSync(file)) return undefined
  const near = relative(workingFolder, file)
  return near.startsWith('..') ? file : near
}

/**
 * Writes `sandbox.env` into the data folder, readable by its owner only, completely or not at all. It contains the
 * key of the sandbox organization, which reaches no trunk (D15).
 */
export const writeSandboxEnv = (dataFolder: string, variables: SandboxVariables): void => {
  const file = fileIn(dataFolder)
  const written = `${file}.${process.pid}`
  writeFileSync(written, textOf(variables), { mode: 0o600 })
  renameSync(written, file)
}

/** Whether the agent of `sandbox.env` still takes calls; true where the file names none, or was made by hand. */
export const isSandboxAgentInUse = async (db: Queryable, dataFolder: string): Promise<boolean> => {
  const { ORG, AGENT } = parseEnv(readFileSync(fileIn(dataFolder), 'utf8'))
  if (ORG === undefined || AGENT === undefined || !isOrganizationId(ORG)) return true
  const agent = await findAgent(db, ORG, AGENT)
  return agent?.archived_at === null
}

/** Ids, keys and URLs contain no shell character. */
const textOf = ({ apiUrl, organizationId, agentId, contactId, key }: SandboxVariables): string =>
  [
    '# The sandbox organization of this installation. Load it into a shell: . PATH-OF-THIS-FILE',
    `export API=${apiUrl}`,
    `export ORG=${organizationId}`,
    `export AGENT=${agentId}`,
    `export CONTACT=${contactId}`,
    `export KEY=${key}`,
    '',
  ].join('\n')

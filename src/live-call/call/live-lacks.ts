import type { OrganizationId } from '../../contract/organization-id.ts'
import type { LiveLack } from '../../domains/organizations/organization-mode.ts'
import { engineProblem, type InstalledEngines } from './choose-engine.ts'

/** What calls of live organizations need of the installation. */
interface LiveNeeds {
  /** How many there are, the one of the environment included. */
  readonly trunks: number
  readonly callerId: string | undefined
  /** Whether any organization has numbers of its own. */
  readonly hasNumbers: boolean
  readonly engines: InstalledEngines
}

// An agent without an engine names no provider.
const noOrganization = '' as OrganizationId
const noProvider = (): string => 'There is no such provider.'

/**
 * Returns what is missing here for calls of live organizations, which wait in `queued` (decision D15). Agents with an engine
 * of their own need none of the installation.
 */
export const liveLacks = ({
  trunks,
  callerId,
  hasNumbers,
  engines,
}: LiveNeeds): readonly LiveLack[] => [
  ...(trunks === 0 ? (['no_trunk'] as const) : []),
  ...(callerId === undefined && !hasNumbers ? (['no_caller_id'] as const) : []),
  ...(engineProblem(engines, {}, 'live', noOrganization, noProvider) === undefined
    ? []
    : (['no_engine'] as const)),
]

import type { Queryable } from '../../database/database.ts'
import { callBackResource } from '../../domains/calls-back/call-back-resource.ts'
import { listCallsBack as readCallsBack } from '../../domains/calls-back/calls-back-store.ts'
import { allowancesOf } from '../../domains/organizations/rate-allowances.ts'
import { setOrganization } from '../../domains/organizations/set-organization.ts'
import { showOrganization } from '../../domains/organizations/show-organization.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

const settingsOf = async (db: Queryable, organizationId: OrganizationId) => {
  const shown = await showOrganization(db, organizationId)
  return {
    id: shown.id,
    name: shown.name,
    mode: shown.mode ?? null,
    default_version: shown.default_version,
    public_api_enabled: shown.public_api_enabled,
    concurrency: shown.concurrency,
    retention_days: shown.retention_days ?? null,
    recording: shown.recording,
    calls_back: shown.calls_back ?? null,
    rates: allowancesOf(shown.rates),
    created_at: shown.created_at,
    updated_at: shown.updated_at,
  }
}

export const getOrganization: ConsoleHandler<'getOrganization'> = (
  _input,
  { db, organizationId },
) => settingsOf(db, organizationId)

/** A page of them: who wants more asks the command line. */
const maxCallsBack = 100

export const listCallsBack: ConsoleHandler<'listCallsBack'> = async (
  _input,
  { db, organizationId },
) => ({ data: (await readCallsBack(db, organizationId, maxCallsBack)).map(callBackResource) })

/** What `outdial org set` changes, except the storage quotas: those are the operator's. */
export const changeOrganization: ConsoleHandler<'changeOrganization'> = async (
  { body },
  context,
) => {
  const { db, organizationId } = context
  const before = await settingsOf(db, organizationId)
  const { public_api_enabled: publicApi, concurrency, retention_days: days, rates = {} } = body
  await asTold(
    setOrganization(db, organizationId, {
      ...(publicApi !== undefined && { publicApiEnabled: publicApi }),
      ...(concurrency !== undefined && { concurrency }),
      ...(days !== undefined && { retentionDays: days ?? 0 }),
      ...(body.recording !== undefined && { recording: body.recording }),
      ...(body.calls_back !== undefined && { callsBack: body.calls_back ?? '' }),
      rateLimits: Object.fromEntries(
        Object.entries(rates).flatMap(([bucket, rate]) =>
          rate === undefined ? [] : [[bucket, rate]],
        ),
      ),
    }),
  )
  const after = await settingsOf(db, organizationId)
  await note(db, context, {
    action: 'organization.change',
    target: { type: 'organization', id: organizationId },
    before,
    after,
  })
  return after
}

import { setOrganization } from '../../domains/organizations/set-organization.ts'
import { showOrganization } from '../../domains/organizations/show-organization.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

/** The calling policy as its file has it. */
export const getPolicy: ConsoleHandler<'getPolicy'> = async (_input, { db, organizationId }) => ({
  ...(await showOrganization(db, organizationId)).policy,
})

/** Replaces the whole policy. */
export const changePolicy: ConsoleHandler<'changePolicy'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const { policy: before } = await showOrganization(db, organizationId)
  await asTold(setOrganization(db, organizationId, { policy: body }))
  const { policy: after } = await showOrganization(db, organizationId)
  await note(db, context, {
    action: 'policy.change',
    target: { type: 'organization', id: organizationId },
    before,
    after,
  })
  return { ...after }
}

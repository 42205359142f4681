import { previewPolicy as preview } from '../../domains/calls/preview-policy.ts'
import { checkPolicyFile, policyOfJson } from '../../domains/organizations/calling-policy.ts'
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

/** What a policy would do, before it is saved. Changes nothing. */
export const previewPolicy: ConsoleHandler<'previewPolicy'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const after = await asTold(Promise.resolve().then(() => checkPolicyFile(body)))
  const { policy } = await showOrganization(db, organizationId)
  return preview(db, organizationId, { before: policyOfJson(policy), after }, new Date())
}

import type { OrganizationId } from '../../../contract/organization-id.ts'

/** Which call, and the proof that it is still ours: a later holder's token makes every write touch no row. */
export interface CallFence {
  readonly organizationId: OrganizationId
  readonly callId: string
  readonly leaseToken: string
}

/** `$1` to `$3` of every fenced statement. */
export const fenceValues = (fence: CallFence): readonly [OrganizationId, string, string] => [
  fence.organizationId,
  fence.callId,
  fence.leaseToken,
]

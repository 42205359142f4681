/** Which call, and the proof that it is still ours: a later holder's token makes every write touch no row. */
export interface CallFence {
  readonly organizationId: string
  readonly callId: string
  readonly leaseToken: string
}

/** `$1` to `$3` of every fenced statement. */
export const fenceValues = (fence: CallFence): readonly [string, string, string] => [
  fence.organizationId,
  fence.callId,
  fence.leaseToken,
]

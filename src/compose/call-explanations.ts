import type { Queryable } from '../database/database.ts'
import { explainCall, type CallExplanation } from '../domains/calls/explain-call.ts'
import { organizationOfCall } from '../domains/calls/explain-store.ts'
import { isUuid } from '../runtime/ids.ts'

/** For commands, which name a call by its id alone. Undefined: there is no such call. */
export const findOrganizationOfCall = async (
  db: Queryable,
  callId: string,
): Promise<string | undefined> => (isUuid(callId) ? organizationOfCall(db, callId) : undefined)

export { explainCall, type CallExplanation }

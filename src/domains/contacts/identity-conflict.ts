import { ApiError } from '../../contract/api-error.ts'

/** The identity of the contact that has the number. */
export interface NumberHolder {
  readonly source: string
  readonly external_id: string | null
}

interface Conflict {
  readonly input: NumberHolder
  /** Omitted if a concurrent writer took the number and is not visible yet. */
  readonly holder?: NumberHolder | undefined
  /** Index in a list of recipients. */
  readonly index?: number
  readonly cause?: unknown
}

/**
 * 409 `contact_identity_conflict` (D4): it names the number's owner by the caller's own identities. The owner's
 * name and other fields need `contacts:read`.
 */
export const identityConflict = ({ input, holder, index, cause }: Conflict): ApiError => {
  const which = index === undefined ? 'The phone number' : `recipients[${index}]: the phone number`
  const whose =
    holder === undefined ? 'another contact' : `the contact with ${describeIdentity(holder)}`
  return new ApiError(
    'contact_identity_conflict',
    `${which} belongs to ${whose}, not to ${describeIdentity(input)}.`,
    undefined,
    { cause },
  )
}

/** The API's name of a contact for keys that may not read it. */
export const describeIdentity = ({ source, external_id: externalId }: NumberHolder): string =>
  externalId === null
    ? 'no external_id'
    : `source ${JSON.stringify(source)} and external_id ${JSON.stringify(externalId)}`

import { parsePhoneNumberFromString, type NumberType } from 'libphonenumber-js/max'

/** What the numbering plans of the world say about an E.164 number. */
export interface PlannedNumber {
  /** As the plan writes it: the parser also accepts a trunk prefix after the calling code, which no carrier does. */
  readonly number: string
  readonly isPossible: boolean
  readonly type: NumberType
  readonly country: string | undefined
}

/** Undefined where it is no number of any plan. */
export const findPlannedNumber = (phoneNumber: string): PlannedNumber | undefined => {
  if (phoneNumber !== latest.phoneNumber)
    latest = { phoneNumber, planned: readPlannedNumber(phoneNumber) }
  return latest.planned
}

/** A call's number is asked for twice, for its destination and for its zones; finding it costs more than all else there. */
let latest: { readonly phoneNumber: string; readonly planned: PlannedNumber | undefined } = {
  phoneNumber: '',
  planned: undefined,
}

const readPlannedNumber = (phoneNumber: string): PlannedNumber | undefined => {
  const parsed = parsePhoneNumberFromString(phoneNumber)
  return (
    parsed && {
      number: parsed.number,
      isPossible: parsed.isPossible(),
      type: parsed.getType(),
      country: parsed.country,
    }
  )
}

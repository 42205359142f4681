import { notFoundInBody } from '../../contract/api-error.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { findContact } from '../contacts/contact-store.ts'
import { isOnDoNotCallList } from '../organizations/do-not-call.ts'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { checkAutomationFile } from './definition-problems.ts'
import { simulate, type Simulation } from './stepping/simulate.ts'
import { parseAnswer } from './stepping/simulated-answers.ts'
import { simulatedContact } from './stepping/simulated-contact.ts'
import { timetableOf, type Timetable } from './stepping/timetable.ts'

interface SimulationRequest {
  readonly definition: unknown
  /** A contact of the organization, else only a number. */
  readonly contactId?: string | undefined
  readonly phoneNumber: string
  /** `no_answer`, `answered:achieved`. */
  readonly answers: readonly string[]
  readonly startMs: number
}

/** Moves that are shown, about 100 ms of work: the main thread serves others besides. */
const maxSimulatedMoves = 2_000

/**
 * The timetable of a run under the policy of the organization; no call is made. Throws `InvalidFileError` for the
 * definition and the answers, and `resource_not_found` for an unknown contact.
 */
export const simulateAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  { definition, contactId, phoneNumber, answers, startMs }: SimulationRequest,
): Promise<Timetable> => {
  const contact =
    contactId === undefined
      ? { phone_number: phoneNumber }
      : await findContact(db, organizationId, contactId)
  if (!contact) throw notFoundInBody('contact_id')
  const checked = checkAutomationFile({ name: 'Simulation', definition })
  const organization = await findOrganization(db, organizationId)
  if (!organization) throw new Error(`there is no organization ${organizationId}`)
  return timetableOf(
    simulate({
      definition: checked.definition,
      contact: simulatedContact(contact),
      policy: organization.policy,
      answers: readAnswers(answers),
      startMs,
      isOnDoNotCallList: await isOnDoNotCallList(db, organizationId, contact.phone_number),
      maxMoves: maxSimulatedMoves,
    }),
  )
}

const readAnswers = (words: readonly string[]): Simulation['answers'] => {
  const [first, ...others] = words.map((word, at) => {
    const answer = parseAnswer(word)
    if (answer) return answer
    throw new InvalidFileError([{ path: `answers[${at}]`, message: 'No call ends like this.' }])
  })
  if (first) return [first, ...others]
  throw new InvalidFileError([{ path: 'answers', message: 'It must have at least 1 item.' }])
}

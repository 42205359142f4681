import { existsSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { z } from 'zod'
import { phoneNumber } from '../../contract/fields.ts'
import { parseDateTime } from '../../contract/date-time.ts'
import { branchableFields } from '../../domains/automations/definition.ts'
import { checkAutomationFile } from '../../domains/automations/definition-problems.ts'
import { simulate, type Simulation } from '../../domains/automations/stepping/simulate.ts'
import { answerWords, parseAnswer } from '../../domains/automations/stepping/simulated-answers.ts'
import { simulatedContact } from '../../domains/automations/stepping/simulated-contact.ts'
import { timetableOf, type Timetable } from '../../domains/automations/stepping/timetable.ts'
import { findContact } from '../../domains/contacts/contact-store.ts'
import {
  checkPolicyFile,
  defaultPolicy,
  type CallingPolicy,
} from '../../domains/organizations/calling-policy.ts'
import { isOnDoNotCallList } from '../../domains/organizations/do-not-call.ts'
import { checkFile } from '../../domains/organizations/invalid-file.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { systemTime } from '../../runtime/time.ts'
import { UsageError, type CliContext } from '../cli-context.ts'
import { show, type Lines, type OutputOptions } from '../terminal/output.ts'
import { readJsonFile } from '../read-file.ts'
import { requireOrganization } from '../require-organization.ts'
import { table } from '../terminal/table.ts'
import { plural } from '../../runtime/plural.ts'

type Answers = Simulation['answers']

interface SimulateOptions extends OutputOptions {
  readonly file: string
  readonly contact: string
  readonly org?: string
  readonly answers: Answers
  readonly at?: number
  readonly policy?: string
}

/** `outdial automation simulate`: the timetable of a run on a virtual clock; no call is made. */
export const addSimulateCommand = (automation: Command, context: CliContext): void => {
  automation
    .command('simulate')
    .description('show when a run would do what, and why; nobody is called')
    .requiredOption('--file <file>', 'Automation file (JSON)')
    .requiredOption(
      '--contact <contact>',
      'contact file (JSON), a number, or a contact id with --org',
    )
    .requiredOption(
      '--answers <a,b>',
      `how its calls end, in turn; the last one repeats: ${answerWords.join(', ')}, each also with an outcome (answered:achieved)`,
      readAnswers,
    )
    .option('--at <instant>', 'RFC 3339 instant at which the run begins (now)', readInstant)
    .option('--policy <file>', 'policy file (JSON); else that of --org, or of a new organization')
    .option('--org <org>', 'organization id')
    .option('--json', 'print JSON')
    .action(async (options: SimulateOptions) => {
      const { definition } = checkAutomationFile(readJsonFile(options.file))
      const timetable = timetableOf(
        simulate({
          definition,
          ...(await readSurroundings(options, context)),
          answers: options.answers,
          startMs: options.at ?? systemTime.now().getTime(),
        }),
      )
      show(context, options, timetable, (width) => printTimetable(timetable, width))
    })
}

const readAnswers = (text: string): Answers => {
  const [first, ...others] = text.split(',').map((word) => {
    const answer = parseAnswer(word.trim())
    if (!answer)
      throw new InvalidArgumentError(
        `"${word.trim()}" is none of ${answerWords.join(', ')}, each also with an outcome.`,
      )
    return answer
  })
  if (!first) throw new InvalidArgumentError('It must have at least one answer.')
  return [first, ...others]
}

const readInstant = (text: string): number => {
  const instant = parseDateTime(text)
  if (instant === undefined)
    throw new InvalidArgumentError('It must be an RFC 3339 instant, such as 2026-07-16T08:00:00Z.')
  return Date.parse(instant)
}

type Surroundings = Pick<Simulation, 'contact' | 'policy' | 'isOnDoNotCallList'>

const readSurroundings = async (
  options: SimulateOptions,
  context: CliContext,
): Promise<Surroundings> => {
  const filePolicy =
    options.policy === undefined ? undefined : checkPolicyFile(readJsonFile(options.policy))
  const given = readContact(options.contact)
  const { org } = options
  if (org === undefined) {
    if (!given)
      throw new UsageError(
        `${options.contact} is neither a file nor a number; a contact id needs --org.`,
      )
    return { contact: given, policy: filePolicy ?? defaultPolicy }
  }
  return context.withDatabase(async (db) => {
    const organization = await requireOrganization(db, org)
    const known = given ?? (await findContact(db, organization.id, options.contact))
    if (!known) throw new OperatorError(`There is no contact ${options.contact} in ${org}.`)
    const contact = simulatedContact(known)
    const policy: CallingPolicy = filePolicy ?? organization.policy
    const isBlocked = await isOnDoNotCallList(db, organization.id, contact.phone_number)
    return { contact, policy, isOnDoNotCallList: isBlocked }
  })
}

type Contact = Simulation['contact']

const contactFileSchema = z.strictObject({
  ...Object.fromEntries(branchableFields.map((field) => [field, z.string().optional()])),
  phone_number: z
    .string()
    .refine(
      (number) => phoneNumber.safeParse(number).success,
      'It must be E.164, such as +12025550100.',
    ),
})

const readContact = (text: string): Contact | undefined => {
  if (phoneNumber.safeParse(text).success) return simulatedContact({ phone_number: text })
  return existsSync(text)
    ? simulatedContact(checkFile(contactFileSchema, readJsonFile(text)))
    : undefined
}

const printTimetable = (timetable: Timetable, width?: number): Lines => [
  ...table(
    ['LOCAL TIME', 'STEP', 'MOVE', 'WHY'],
    timetable.entries.map((entry) => [
      entry.local_time,
      entry.step ?? '',
      describeMove(entry),
      entry.reason,
    ]),
    '',
    width,
  ),
  '',
  `Local time is that of ${timetable.time_zones.join(', ')}.`,
  `The run ends ${timetable.status}${timetable.failure_code === undefined ? '' : ` (${timetable.failure_code})`} at ${timetable.ended_at} after ${plural(timetable.calls, 'call')}.`,
]

const describeMove = (entry: Timetable['entries'][number]): string => {
  if (entry.call) {
    const { answer_status: answer, outcome, dialled_at: dialledAt } = entry.call
    const later = dialledAt === entry.at ? '' : ` (dialled ${dialledAt})`
    return `call: ${answer}${outcome === undefined ? '' : `, ${outcome}`}${later}`
  }
  if (entry.to !== undefined) return `to ${entry.to}`
  return entry.until_local_time === undefined
    ? entry.move
    : `${entry.move} until ${entry.until_local_time}`
}

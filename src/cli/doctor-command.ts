import type { Command } from 'commander'
import { checkPhoneNumber } from '../domains/organizations/do-not-call.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../domains/organizations/phone-destination.ts'
import type { Finding } from '../operator/doctor/finding.ts'
import { UsageError, type CliContext } from './cli-context.ts'
import { show, type OutputOptions } from './terminal/output.ts'
import { table } from './terminal/table.ts'

/** Something that an installation needs is missing; the findings name it. */
class UnhealthyError extends Error {
  override readonly name = 'UnhealthyError'
}

const styles = { ok: 'good', warning: 'poor', failed: 'bad' } as const

const numberOf = ({ call }: { readonly call?: string }): string | undefined => {
  if (call === undefined) return undefined
  const number = checkPhoneNumber(call)
  const problem = destinationProblem(number, { allowedCountries: 'all' })
  if (problem !== undefined) throw new UsageError(describeDestinationProblem(problem))
  return number
}

type DoctorOptions = OutputOptions & { readonly call?: string; readonly engine?: true }

/** What does the work is loaded on use, because the help does not need it. */
const findingsFor = async (options: DoctorOptions, context: CliContext): Promise<Finding[]> => {
  if (options.engine) {
    if (options.call !== undefined) throw new UsageError('Give either --engine or --call.')
    const { tryEngine } = await import('../operator/doctor/try-engine.ts')
    return tryEngine(context.config.engines)
  }
  const { examine } = await import('../operator/doctor/examine.ts')
  return examine(context.config, context.withDatabase, numberOf(options))
}

/** `outdial doctor`: checks the needs of an installation and prints each finding with its remedy. */
export const addDoctorCommand = (program: Command, context: CliContext): void => {
  program
    .command('doctor')
    .description('check database, disk, trunk, NAT, AI provider, clock and ports')
    .option('--call <number>', 'also ring this phone (E.164) for a moment, over the trunk')
    .option('--engine', 'only use each AI server once, and say what it can do; costs a few tokens')
    .option('--json', 'print JSON')
    .action(async (options: DoctorOptions) => {
      const findings = await findingsFor(options, context)
      show(context, options, findings, (width) =>
        table(
          ['CHECK', 'STATUS', 'FINDING'],
          findings.map(({ check, status, message }) => [
            check,
            { style: styles[status], text: status },
            message,
          ]),
          'Nothing was checked.',
          width,
        ),
      )
      const bad = findings.filter(({ status }) => status === 'failed').length
      if (bad > 0) throw new UnhealthyError(`${bad} of ${findings.length} checks failed.`)
    })
}

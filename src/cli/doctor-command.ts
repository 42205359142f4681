import type { Command } from 'commander'
import { examine } from '../compose/doctor.ts'
import type { CliContext } from './cli-context.ts'
import { show, table, type OutputOptions } from './output.ts'

/** Something an installation needs is not there; the findings say what. */
class UnhealthyError extends Error {
  override readonly name = 'UnhealthyError'
}

/** `outdial doctor`: checks what an installation needs, each finding with its remedy. */
export const addDoctorCommand = (program: Command, context: CliContext): void => {
  program
    .command('doctor')
    .description('check database, disk, trunk, NAT, AI provider, clock and ports')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const findings = await examine(context.config, context.withDatabase)
      show(context, options, findings, (width) =>
        table(
          ['CHECK', 'STATUS', 'FINDING'],
          findings.map(({ check, status, message }) => [check, status, message]),
          'Nothing was checked.',
          width,
        ),
      )
      const bad = findings.filter(({ status }) => status === 'failed').length
      if (bad > 0) throw new UnhealthyError(`${bad} of ${findings.length} checks failed.`)
    })
}

import { Option, type Command } from 'commander'
import type { Database } from '../../database/database.ts'
import { commandLine } from '../../domains/audit/command-line.ts'
import { checkPhoneNumber } from '../../domains/organizations/do-not-call.ts'
import { createSecretBox, type SecretBox } from '../../domains/organizations/secret-box.ts'
import {
  addTrunk,
  changeTrunk,
  listTrunks,
  pauseTrunk,
  removeTrunk,
  showTrunk,
} from '../../domains/trunks/edit-trunks.ts'
import { noteTrunkChange } from '../../domains/trunks/note-trunk-change.ts'
import { presetNames, presets } from '../../domains/trunks/presets.ts'
import type { ShownTrunk } from '../../domains/trunks/trunk-resource.ts'
import type { TrunkInput } from '../../domains/trunks/trunk-settings.ts'
import type { CliContext } from '../cli-context.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { describeTest, describeTrunk, trunkRow } from './describe-trunk.ts'
import { inputOf, secretsOf, withTrunkOptions, type TrunkOptions } from './trunk-options.ts'

/** `outdial trunk add|list|show|set|test|pause|resume|remove`: the ways to the telephone network. */
export const addTrunkCommands = (program: Command, context: CliContext): void => {
  const trunk = program.command('trunk').description('ways to the telephone network')
  addAddCommand(trunk, context)
  addListCommands(trunk, context)
  addSetCommand(trunk, context)
  addTestCommand(trunk, context)
  addPauseCommands(trunk, context)
  addRemoveCommand(trunk, context)
}

const boxOf = ({ config }: CliContext): SecretBox =>
  createSecretBox({ ...config.program, ...config.store })

const addAddCommand = (trunk: Command, context: CliContext): void => {
  withTrunkOptions(
    trunk.command('add').description('add a trunk').argument('<name>', 'its name, in lower case'),
  )
    .addOption(
      new Option('--preset <carrier>', 'begin with what a carrier publishes').choices(presetNames),
    )
    .action(async (name: string, options: TrunkOptions & { readonly preset?: string }) => {
      const { preset } = options
      const known = preset === undefined ? {} : { preset, ...presets[preset] }
      const input = { ...known, ...inputOf(options) } as TrunkInput
      const secrets = secretsOf(options)
      const box = boxOf(context)
      const added = await context.withDatabase((db) =>
        db.transaction(async (tx) => {
          const after = await addTrunk(tx, box, name, { ...input, uris: input.uris ?? [] }, secrets)
          await noteTrunkChange(tx, commandLine(), 'add', name, { after })
          return after
        }),
      )
      show(context, options, added, (width) => describeTrunk(added, width))
    })
}

const addListCommands = (trunk: Command, context: CliContext): void => {
  trunk
    .command('list')
    .description('list trunks and how they are')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const box = boxOf(context)
      const trunks = await context.withDatabase((db) => listTrunks(db, box))
      show(context, options, trunks, (width) =>
        table(
          ['NAME', 'STATE', 'GATEWAYS', 'PRIORITY', 'CALLS', 'CPS', 'COUNTRIES', 'REGISTERED'],
          trunks.map(trunkRow),
          'There is no trunk yet: trunk add NAME --uri sip:HOST makes one.',
          width,
        ),
      )
    })
  trunk
    .command('show')
    .description('show a trunk: what was set, and how it is')
    .argument('<name>')
    .option('--json', 'print JSON')
    .action(async (name: string, options: OutputOptions) => {
      const box = boxOf(context)
      const shown = await context.withDatabase((db) => showTrunk(db, box, name))
      show(context, options, shown, (width) => describeTrunk(shown, width))
    })
}

const addSetCommand = (trunk: Command, context: CliContext): void => {
  withTrunkOptions(
    trunk
      .command('set')
      .description(
        'change a trunk while calls go on; what is not given stays, "" takes a text away',
      )
      .argument('<name>'),
  ).action(async (name: string, options: TrunkOptions) => {
    const secrets = secretsOf(options)
    const box = boxOf(context)
    const changed = await changing(context, async (db) =>
      db.transaction(async (tx) => {
        const before = await showTrunk(tx, box, name)
        const tls = before.tls === null ? undefined : withoutKeyMark(before.tls)
        const after = await changeTrunk(tx, box, name, inputOf(options, tls), secrets)
        await noteTrunkChange(tx, commandLine(), 'change', name, { before, after })
        return after
      }),
    )
    show(context, options, changed, (width) => describeTrunk(changed, width))
  })
}

const withoutKeyMark = ({
  has_key: _hasKey,
  ...tls
}: NonNullable<ShownTrunk['tls']>): TrunkInput['tls'] => tls

const changing = (
  context: CliContext,
  work: (db: Database) => Promise<ShownTrunk>,
): Promise<ShownTrunk> => context.withDatabase(work)

/** The findings name what failed. */
class TrunkFailedError extends Error {
  override readonly name = 'TrunkFailedError'
}

const addTestCommand = (trunk: Command, context: CliContext): void => {
  trunk
    .command('test')
    .description('ask a trunk from this machine: OPTIONS, or REGISTER where it registers')
    .argument('<name>')
    .option('--call <number>', 'ring this phone (E.164) for a moment instead')
    .option('--json', 'print JSON')
    .action(async (name: string, options: OutputOptions & { readonly call?: string }) => {
      const number = options.call === undefined ? undefined : checkPhoneNumber(options.call)
      // Loaded on use, because the help does not need it.
      const { testTrunk } = await import('../../operator/test-trunk.ts')
      const box = boxOf(context)
      const { sip } = context.config
      const result = await context.withDatabase((db) => testTrunk(db, box, sip, name, number))
      show(context, options, result, (width) => describeTest(result, width))
      if (!result.ok) throw new TrunkFailedError(`The trunk ${name} did not pass.`)
    })
}

const addPauseCommands = (trunk: Command, context: CliContext): void => {
  for (const [action, paused, description] of [
    ['pause', true, 'send no new call by a trunk; live ones go on'],
    ['resume', false, 'let calls go by a paused trunk again'],
  ] as const)
    trunk
      .command(action)
      .description(description)
      .argument('<name>')
      .option('--json', 'print JSON')
      .action(async (name: string, options: OutputOptions) => {
        const box = boxOf(context)
        const changed = await changing(context, (db) =>
          db.transaction(async (tx) => {
            const before = await showTrunk(tx, box, name)
            const after = await pauseTrunk(tx, box, name, paused)
            await noteTrunkChange(tx, commandLine(), action, name, { before, after })
            return after
          }),
        )
        show(context, options, changed, (width) => describeTrunk(changed, width))
      })
}

const addRemoveCommand = (trunk: Command, context: CliContext): void => {
  trunk
    .command('remove')
    .description('remove a trunk; its live calls go on to their end')
    .argument('<name>')
    .option('--json', 'print JSON')
    .action(async (name: string, options: OutputOptions) => {
      const box = boxOf(context)
      const removed = await changing(context, (db) =>
        db.transaction(async (tx) => {
          const before = await removeTrunk(tx, box, name)
          await noteTrunkChange(tx, commandLine(), 'remove', name, { before })
          return before
        }),
      )
      show(context, options, removed, () => [`The trunk ${removed.name} is removed.`])
    })
}

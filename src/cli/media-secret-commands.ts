import type { Command } from 'commander'
import { rotateInstallationSecret } from '../domains/organizations/installation-secrets.ts'
import type { CliContext } from './cli-context.ts'
import { show, type OutputOptions } from './terminal/output.ts'

/** `outdial media-secret rotate`: the secret that signs download URLs. */
export const addMediaSecretCommands = (program: Command, context: CliContext): void => {
  const secret = program
    .command('media-secret')
    .description('the secret that signs download URLs of recordings')
  secret
    .command('rotate')
    .description('sign with a new secret; URLs of the old one stay valid until they expire')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const keyId = await context.withDatabase((db) => rotateInstallationSecret(db, 'media'))
      show(context, options, { key_id: keyId }, () => [
        `Secret ${keyId} signs download URLs on every node within 15 seconds.`,
        'URLs that were signed before stay valid until they expire, an hour at most; the old secret is deleted after two.',
      ])
    })
}

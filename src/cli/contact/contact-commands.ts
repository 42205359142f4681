import type { Command } from 'commander'
import { purgeDeletedRecordings } from '../../domains/recordings/deleted-recordings.ts'
import { eraseContact, type Erasure } from '../../domains/retention/erase-contact.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { CliContext } from '../cli-context.ts'
import { addContactListCommands } from './contact-list-commands.ts'
import { show, type Lines, type OutputOptions } from '../terminal/output.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'

/** A person's recordings are deleted in portions of this size, until none is left. */
const purgeLimit = 500
const maxPurgeRounds = 200

/** `outdial contact list|show|import|erase`. */
export const addContactCommands = (program: Command, context: CliContext): void => {
  const contact = program.command('contact').description('people who are called')
  addContactListCommands(contact, context)
  withOrganization(
    contact
      .command('erase')
      .description('forget a person: contact, recordings, transcripts, summaries, number')
      .argument('<contact>', 'id, or E.164 number'),
    'contact',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const { erasure, purged } = await erase(context, options, id)
      show(context, options, { ...erasure, purged_recordings: purged }, () =>
        describe(erasure, purged),
      )
    })
}

const erase = (context: CliContext, options: OrganizationOption, contact: string) =>
  context.withDatabase(async (db) => {
    const organizationId = isUuid(contact)
      ? await requireOwner(db, options, 'contact', contact)
      : (await requireOrganization(db, options.org)).id
    const erasure = await db.transaction((tx) => eraseContact(tx, organizationId, contact))
    const { openRecordingStorage } = await import('../../storage/open-recording-storage.ts')
    const { objects } = openRecordingStorage(context.config.store.dataFolder, context.config.bucket)
    let purged = 0
    for (let round = 0; round < maxPurgeRounds; round += 1) {
      const done = await purgeDeletedRecordings(db, objects, purgeLimit, {
        organizationId,
        onlyFound: true,
      })
      purged += done.purged
      if (done.purged === 0 || done.listed < purgeLimit) break
    }
    return { erasure, purged }
  })

const describe = ({ contact_id: id, calls, recordings }: Erasure, purged: number): Lines => [
  `Contact ${id} is erased: ${calls === 1 ? '1 call keeps only its facts' : `${calls} calls keep only their facts`}, ${recordings === 1 ? '1 recording is' : `${recordings} recordings are`} gone for everybody.`,
  ...(purged < recordings
    ? ['Bytes that are not in this data folder are deleted by the service within ten minutes.']
    : []),
  'The do-not-call list is unchanged. Backups made before still hold this person.',
]

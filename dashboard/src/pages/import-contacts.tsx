import { Alert, Button, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { send } from '../client/send.ts'
import { useMay } from '../client/session.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { Page } from '../parts/page.tsx'
import { Failure } from '../parts/states.tsx'
import { ContactFile } from './import/contact-file.tsx'
import { endOfWork, useImportWork } from './import/import-work.ts'
import { Working } from './import/working.tsx'

export const ImportContacts = () => {
  const { file } = useSearch({ from: '/shell/contacts/import' })
  const navigate = useNavigate({ from: '/contacts/import' })
  const mayImport = useMay(atLeast('operator'))
  const commit = useImportWork(async (importId: string, tell) => {
    const answer = await send('commitImport', {
      params: { import_id: importId },
      body: { leave_out_refused: true },
    })
    return 'status' in answer ? (await endOfWork(importId, tell)).receipt : answer
  }, 'ends')
  return (
    <Page
      title="Import contacts"
      purpose="Contacts of a CSV file: checked first, then all or none."
    >
      {!mayImport && <Text>For operators and administrators.</Text>}
      {commit.data && (
        <Alert role="status" color="teal" variant="outline" title="The file is imported">
          <Text size="sm">
            {contactsOf(commit.data.contacts)}: {commit.data.new} new, {commit.data.updated}{' '}
            updated. <AnchorLink to="/contacts">See the contacts</AnchorLink>
          </Text>
        </Alert>
      )}
      {mayImport && (
        <ContactFile
          purpose="contacts"
          importId={file}
          onUploaded={(next) => void navigate({ search: { file: next } })}
        >
          {({ ready, duplicate, invalid }) => (
            <>
              {commit.error && <Failure error={commit.error} />}
              <Working progress={commit.progress} what="imported" />
              <Button
                disabled={ready === 0}
                loading={commit.isPending}
                onClick={() =>
                  commit.mutate(file ?? '', { onSuccess: () => void navigate({ search: {} }) })
                }
              >
                {importLabel(ready, duplicate + invalid)}
              </Button>
            </>
          )}
        </ContactFile>
      )}
    </Page>
  )
}

const contactsOf = (count: number): string => (count === 1 ? '1 contact' : `${count} contacts`)

const importLabel = (contacts: number, refused: number): string => {
  const taken = `Import ${contactsOf(contacts)}`
  if (refused === 0) return taken
  return `${taken}, leave out ${refused === 1 ? '1 row' : `${refused} rows`}`
}

import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../client/queries.ts'
import { Failure } from '../../parts/states.tsx'
import { problemOf } from '../../parts/fields.ts'
import { ContactChoice } from '../../parts/contact-choice.tsx'

interface RunDialogProps {
  readonly automationId: string
  readonly version: number
  readonly hasChanges: boolean
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Starts a run of the published version for one contact, and goes to it. */
export const RunDialog = (properties: RunDialogProps) => {
  const { automationId, version, hasChanges, isOpen, onClose } = properties
  const [contactId, setContactId] = useState('')
  const start = useChange('startRun')
  const navigate = useNavigate()
  const run = async (): Promise<void> => {
    const body = { automation_id: automationId, contact_id: contactId, input: {} }
    const { id } = await start.mutateAsync({ body })
    await navigate({ to: '/runs/$runId', params: { runId: id } })
  }
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title="For one contact"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          // What went wrong stands in the dialog.
          run().catch(() => undefined)
        }}
      >
        <Stack>
          {start.error && <Failure error={start.error} />}
          <Text size="sm">
            It runs version {version}, which is published
            {hasChanges ? '; what you changed here since is not in it' : ''}. Its first step begins
            at once.
          </Text>
          <ContactChoice
            value={contactId}
            none="Choose a contact"
            error={problemOf(start.error, 'contact_id')}
            onChange={setContactId}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button
              type="submit"
              loading={start.isPending}
              disabled={contactId === '' || contactId === 'other'}
            >
              Run
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

import { Button, Fieldset, Stack, Text, TextInput, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import { problemOf } from '../parts/fields.ts'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'
import { WindowFields, windowOf, type WindowDraft } from './batch/window-fields.tsx'
import { WindowPreview } from './batch/window-preview.tsx'
import { ContactFile } from './import/contact-file.tsx'

export const NewBatch = () => {
  const { contacts, file } = useSearch({ from: '/shell/batches/new' })
  const navigate = useNavigate({ from: '/batches/new' })
  const mayCreate = useMay(atLeast('operator'))
  const ids = contacts === undefined ? [] : contacts.split(',')
  return (
    <Page title="New batch" purpose="A draft: nobody is called before you start it.">
      {!mayCreate && <Text>For operators and administrators.</Text>}
      {mayCreate && ids.length > 0 && (
        <>
          <Text size="sm">{ids.length} chosen contacts.</Text>
          <BatchForm recipients={{ contactIds: ids }} count={ids.length} />
        </>
      )}
      {mayCreate && ids.length === 0 && (
        <ContactFile
          purpose="batch"
          importId={file}
          onUploaded={(next) => void navigate({ search: { file: next } })}
        >
          {({ ready }) =>
            ready > 0 && <BatchForm recipients={{ importId: file ?? '' }} count={ready} />
          }
        </ContactFile>
      )}
    </Page>
  )
}

type Recipients = { readonly contactIds: readonly string[] } | { readonly importId: string }

const BatchForm = ({ recipients, count }: { recipients: Recipients; count: number }) => {
  const agents = useQuery(reading('listAgents', {}))
  const create = useChange('createBatch')
  const draft = useChange('draftImport')
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [agentId, setAgentId] = useState('')
  const [start, setStart] = useState('')
  const [window, setWindow] = useState<WindowDraft | undefined>()
  const error = create.error ?? draft.error
  const toBatch = (id: string | undefined): void =>
    void (id === undefined
      ? navigate({ to: '/batches' })
      : navigate({ to: '/batches/$batchId', params: { batchId: id } }))
  const submit = (agent: string): void => {
    const body = {
      name,
      agent_id: agent,
      ...(start !== '' && { scheduled_start_at: new Date(start).toISOString() }),
      ...(window && { calling_window: windowOf(window) }),
    }
    if ('contactIds' in recipients)
      create.mutate(
        { body: { ...body, contact_ids: [...recipients.contactIds] } },
        { onSuccess: ({ id }) => toBatch(id) },
      )
    else
      draft.mutate(
        {
          params: { import_id: recipients.importId },
          body: { ...body, leave_out_refused: true },
        },
        { onSuccess: ({ data }) => toBatch(data.length === 1 ? data[0]?.id : undefined) },
      )
  }
  return (
    <Loaded result={agents}>
      {({ data }) => {
        const chosen = agentId === '' ? (data[0]?.id ?? '') : agentId
        return (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              submit(chosen)
            }}
          >
            <Fieldset legend="Batch">
              <Stack maw="36rem">
                {error && <Failure error={error} />}
                <TextInput
                  label="Name"
                  required
                  withAsterisk={false}
                  maxLength={200}
                  value={name}
                  error={problemOf(error, 'name')}
                  onChange={({ currentTarget }) => setName(currentTarget.value)}
                />
                <NativeSelect
                  label="Agent"
                  value={chosen}
                  error={problemOf(error, 'agent_id')}
                  data={data.map((agent) => ({ value: agent.id, label: agent.name }))}
                  onChange={({ currentTarget }) => setAgentId(currentTarget.value)}
                />
                <TextInput
                  type="datetime-local"
                  label="Not before"
                  description="In the time of this computer; empty: as soon as it is started."
                  value={start}
                  error={problemOf(error, 'scheduled_start_at')}
                  onChange={({ currentTarget }) => setStart(currentTarget.value)}
                />
                <WindowFields
                  window={window}
                  onChange={setWindow}
                  problem={problemOf(error, 'calling_window')}
                />
                <WindowPreview recipients={recipients} window={window && windowOf(window)} />
                <Button
                  type="submit"
                  disabled={chosen === ''}
                  title={chosen === '' ? 'There is no published agent yet.' : undefined}
                  loading={create.isPending || draft.isPending}
                >
                  Create draft of {count}
                </Button>
              </Stack>
            </Fieldset>
          </form>
        )
      }}
    </Loaded>
  )
}

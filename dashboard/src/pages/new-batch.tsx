import { Button, Fieldset, Stack, Text, TextInput, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { use, useState } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { send } from '../client/send.ts'
import { useMay } from '../client/session.ts'
import type { InputOf } from '../client/table.ts'
import { problemOf } from '../parts/fields.ts'
import { ZoneContext } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'
import { ChosenContacts } from './batch/chosen-contacts.tsx'
import { WindowFields, windowOf, type WindowDraft } from './batch/window-fields.tsx'
import { WindowPreview } from './batch/window-preview.tsx'
import { ContactFile } from './import/contact-file.tsx'
import { endOfWork, useImportWork } from './import/import-work.ts'
import { Working } from './import/working.tsx'

export const NewBatch = () => {
  const { contacts, file } = useSearch({ from: '/shell/batches/new' })
  const navigate = useNavigate({ from: '/batches/new' })
  const mayCreate = useMay(atLeast('operator'))
  const ids = contacts === undefined ? [] : contacts.split(',')
  const choose = (chosen: readonly string[]): void =>
    void navigate({
      search: { contacts: chosen.length === 0 ? undefined : chosen.join(',') },
      replace: true,
    })
  return (
    <Page title="New batch" purpose="A draft: nobody is called before you start it.">
      {!mayCreate && <Text>For operators and administrators.</Text>}
      {mayCreate && file === undefined && <ChosenContacts ids={ids} onChange={choose} />}
      {mayCreate && ids.length > 0 && (
        <>
          <BatchForm recipients={{ contactIds: ids }} count={ids.length} />
        </>
      )}
      {mayCreate && ids.length === 0 && (
        <ContactFile
          purpose="batch"
          importId={file}
          onUploaded={(next) => void navigate({ search: { file: next } })}
        >
          {({ ready }) => ready > 0 && <BatchOfFile importId={file ?? ''} count={ready} />}
        </ContactFile>
      )}
    </Page>
  )
}

/** Named after its file. */
const BatchOfFile = ({ importId, count }: { importId: string; count: number }) => {
  const { data } = useQuery(reading('getImport', { params: { import_id: importId } }))
  const fileName = data?.file_name.replace(/\.[a-z]{1,4}$/i, '')
  return <BatchForm recipients={{ importId }} count={count} fileName={fileName} />
}

type Recipients = { readonly contactIds: readonly string[] } | { readonly importId: string }

interface BatchFormProps {
  readonly recipients: Recipients
  readonly count: number
  readonly fileName?: string | undefined
}

const BatchForm = ({ recipients, count, fileName }: BatchFormProps) => {
  const agents = useQuery(reading('listAgents', {}))
  const create = useChange('createBatch')
  const draft = useImportWork(async (input: InputOf<'draftImport'>, tell) => {
    const answer = await send('draftImport', input)
    if ('data' in answer) return answer.data.map(({ id }) => id)
    return (await endOfWork(input.params.import_id, tell)).batch_ids ?? []
  }, 'ends')
  const navigate = useNavigate()
  const [written, setName] = useState<string>()
  const zone = use(ZoneContext)
  const [agentId, setAgentId] = useState('')
  const [start, setStart] = useState('')
  const [window, setWindow] = useState<WindowDraft | undefined>()
  const error = create.error ?? draft.error
  const toBatch = (id: string | undefined): void =>
    void (id === undefined
      ? navigate({ to: '/batches' })
      : navigate({ to: '/batches/$batchId', params: { batchId: id } }))
  const submit = (agent: string, name: string): void => {
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
        { onSuccess: (ids) => toBatch(ids.length === 1 ? ids[0] : undefined) },
      )
  }
  return (
    <Loaded result={agents}>
      {({ data }) => {
        const chosen = agentId === '' ? (data[0]?.id ?? '') : agentId
        const about = fileName ?? data.find(({ id }) => id === chosen)?.name
        const name = written ?? suggestedName(about, zone)
        return (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              submit(chosen, name)
            }}
          >
            <Fieldset legend="Batch">
              <Stack maw="36rem">
                {error && <Failure error={error} />}
                <Working progress={draft.progress} what="drafted" />
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

/** The file's or the agent's name, and the day: `March leads, 2026-11-23`. */
const suggestedName = (about: string | undefined, timeZone: string): string => {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(
    new Date(),
  )
  return about === undefined ? '' : `${Array.from(about).slice(0, 180).join('')}, ${today}`
}

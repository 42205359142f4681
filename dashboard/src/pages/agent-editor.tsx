import { Button } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { Page } from '../parts/page.tsx'
import { saveText } from '../parts/save-text.ts'
import { Loaded } from '../parts/states.tsx'
import { AgentForm } from './agent-form.tsx'
import { emptyAgent, hasHiddenValues, type AgentFile } from './agent-file.ts'

type ShownAgent = AnswerOf<'getAgent'>

export const NewAgent = () => {
  const navigate = useNavigate()
  const create = useChange('createAgent')
  const publish = async (file: AgentFile): Promise<void> => {
    const { id } = await create.mutateAsync({ body: file })
    await navigate({ to: '/agents/$agentId', params: { agentId: id } })
  }
  const mayPublish = useMay(atLeast('admin'))
  return (
    <Page title="New agent" purpose="It can call as soon as it is published.">
      <AgentForm
        file={emptyAgent}
        publish={publish}
        disabledBecause={mayPublish ? undefined : 'For administrators.'}
      />
    </Page>
  )
}

export const AgentPage = () => {
  const { agentId } = useParams({ from: '/shell/agents/$agentId' })
  const result = useQuery(reading('getAgent', { params: { agent_id: agentId } }))
  return (
    <Loaded result={result}>{(agent) => <Editor key={agent.version} agentId={agentId} />}</Loaded>
  )
}

const Editor = ({ agentId }: { agentId: string }) => {
  const params = { agent_id: agentId }
  const { data: agent } = useSuspenseQuery(reading('getAgent', { params }))
  const publish = useChange('publishAgent')
  const mayPublish = useMay(atLeast('admin'))
  return (
    <Page
      title={agent.name}
      purpose={`Version ${agent.version}${agent.archived_at ? ', archived' : ''}. Calls that were accepted keep the version they were accepted with.`}
      actions={<AgentActions agent={agent} mayArchive={mayPublish} />}
    >
      <AgentForm
        file={agent.definition}
        publish={async (file) => void (await publish.mutateAsync({ params, body: file }))}
        disabledBecause={whyNot(agent, mayPublish)}
      />
    </Page>
  )
}

const whyNot = (agent: ShownAgent, mayPublish: boolean): string | undefined => {
  if (!mayPublish) return 'For administrators.'
  if (agent.archived_at !== undefined) return 'The agent is archived.'
  return hasHiddenValues(agent.definition)
    ? 'Its tools have headers that are not shown; publish the whole file with outdial agent publish.'
    : undefined
}

const AgentActions = ({ agent, mayArchive }: { agent: ShownAgent; mayArchive: boolean }) => {
  const archive = useChange('archiveAgent')
  return (
    <>
      <CopyText value={agent.id} what="agent id" isHidden />
      <Button
        size="compact-sm"
        variant="default"
        onClick={() =>
          saveText(
            'agent.json',
            `${JSON.stringify(agent.definition, null, 2)}\n`,
            'application/json',
          )
        }
      >
        Export
      </Button>
      {agent.archived_at === undefined && (
        <ConfirmButton
          label="Archive"
          consequence="It calls nobody any more: its queued calls end failed, live ones go on. This cannot be undone."
          disabledBecause={mayArchive ? undefined : 'For administrators.'}
          onConfirm={() => archive.mutateAsync({ params: { agent_id: agent.id } })}
        />
      )}
    </>
  )
}

import { Alert, Button, Group, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { fetchProgram } from '../client/fetch-program.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { saveText } from '../parts/save-text.ts'
import { Loaded, Loading } from '../parts/states.tsx'
import { emptyAgent, fileNameOf, sourceOf, type AgentFile } from './agent-file.ts'
import { AgentForm, type Seen } from './agent-form.tsx'
import { TestCall } from './agent-test-call.tsx'
import './agent-editor.css'

const AgentVersions = lazy(async () => ({
  default: (await fetchProgram(() => import('./agent-versions.tsx'))).AgentVersions,
}))

const TalkDialog = lazy(async () => ({
  default: (await import('./talk/talk-dialog.tsx')).TalkDialog,
}))

type ShownAgent = AnswerOf<'getAgent'>

export const NewAgent = () => {
  const navigate = useNavigate({ from: '/agents/new' })
  const { contact } = useSearch({ from: '/shell/agents/new' })
  const create = useChange('createAgent')
  const draft = useChange('createAgentDraft')
  const open = (agentId: string) =>
    navigate({ to: '/agents/$agentId', params: { agentId }, ignoreBlocker: true })
  const mayPublish = useMay(atLeast('admin'))
  return (
    <Page title="New agent" purpose="It can call as soon as it is published.">
      <AgentForm
        base={emptyAgent}
        seen={{ revision: 0, version: 0 }}
        saveDraft={async (file) => open((await draft.mutateAsync({ body: file })).agent_id)}
        publish={async (file) => open((await create.mutateAsync({ body: file })).id)}
        mayPublishAsIs={false}
        disabledBecause={mayPublish ? undefined : 'For administrators.'}
        contactId={contact}
        onContact={(next) =>
          void navigate({ search: { contact: next }, replace: true, ignoreBlocker: true })
        }
      />
    </Page>
  )
}

export const AgentPage = () => {
  const { agentId } = useParams({ from: '/shell/agents/$agentId' })
  const result = useQuery(reading('getAgent', { params: { agent_id: agentId } }))
  return <Loaded result={result}>{(agent) => <Agent key={agent.id} agent={agent} />}</Loaded>
}

const Agent = ({ agent }: { agent: ShownAgent }) => {
  const search = useSearch({ from: '/shell/agents/$agentId' })
  const navigate = useNavigate({ from: '/agents/$agentId' })
  const mayChange = useMay(atLeast('admin'))
  return (
    <Page
      title={agent.name}
      purpose={stateOf(agent)}
      actions={<AgentActions agent={agent} mayChange={mayChange} />}
    >
      <Tabs
        value={search['view'] === 'versions' ? 'versions' : 'edit'}
        onChange={(view) =>
          void navigate({
            search: { contact: search['contact'], view: view === 'versions' ? view : undefined },
          })
        }
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="edit">Edit</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="edit" pt="md">
          <Editor agent={agent} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <Suspense fallback={<Loading />}>
            <AgentVersions agent={agent} mayChange={mayChange} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

const stateOf = ({ version, archived_at: archivedAt }: ShownAgent): string => {
  if (version === 0) return 'A draft that was never published: no call can use it.'
  const state = archivedAt === undefined ? `Version ${version}.` : `Version ${version}, archived.`
  return `${state} Calls that were accepted keep the version they were accepted with.`
}

const Editor = ({ agent, mayChange }: { agent: ShownAgent; mayChange: boolean }) => {
  const params = { agent_id: agent.id }
  const search = useSearch({ from: '/shell/agents/$agentId' })
  const navigate = useNavigate({ from: '/agents/$agentId' })
  const save = useChange('saveAgentDraft')
  const publish = useChange('publishAgent')
  const { draft } = agent
  return (
    <>
      {draft && <DraftNote agent={agent} draft={draft} mayChange={mayChange} />}
      <AgentForm
        agentId={agent.id}
        base={draft?.file ?? agent.definition}
        seen={{ revision: draft?.revision ?? 0, version: agent.version }}
        saveDraft={(file: AgentFile, seen: Seen) =>
          save.mutateAsync({ params, body: { file, ...seen } })
        }
        publish={(file: AgentFile, { revision, version }: Seen) =>
          publish.mutateAsync({
            params,
            query: { base_version: String(version), draft_revision: String(revision) },
            body: file,
          })
        }
        mayPublishAsIs={draft !== undefined}
        disabledBecause={whyNot(agent, mayChange)}
        contactId={search['contact']}
        onContact={(contact) =>
          void navigate({ search: { ...search, contact }, replace: true, ignoreBlocker: true })
        }
      />
    </>
  )
}

const whyNot = (agent: ShownAgent, mayChange: boolean): string | undefined => {
  if (!mayChange) return 'For administrators.'
  return agent.archived_at === undefined ? undefined : 'The agent is archived.'
}

interface DraftNoteProps {
  readonly agent: ShownAgent
  readonly draft: NonNullable<ShownAgent['draft']>
  readonly mayChange: boolean
}

/** Says that the draft is not what calls use, and whether it is older than that. */
const DraftNote = ({ agent, draft, mayChange }: DraftNoteProps) => {
  const discard = useChange('discardAgentDraft')
  const isOlder = draft.based_on < agent.version
  return (
    <Alert variant="outline" color="indigo" title="A draft is shown" mb="md">
      <Group gap="xs">
        <Text size="sm">
          Saved <Instant at={draft.saved_at} />.{' '}
          {agent.version > 0 && `Calls use version ${agent.version}. `}
          {isOlder &&
            `It was begun from version ${draft.based_on}: see what was changed since before it goes out. `}
        </Text>
        {agent.version > 0 && (
          <>
            <AnchorLink
              to="/agents/$agentId"
              params={{ agentId: agent.id }}
              search={{ view: 'versions', before: String(agent.version), after: 'draft' }}
            >
              Differences
            </AnchorLink>
            <ConfirmButton
              label="Discard draft"
              consequence={`What is in the draft is lost; version ${agent.version} stays as it is.`}
              disabledBecause={whyNot(agent, mayChange)}
              onConfirm={() =>
                discard.mutateAsync({
                  params: { agent_id: agent.id },
                  query: { revision: String(draft.revision) },
                })
              }
            />
          </>
        )}
      </Group>
    </Alert>
  )
}

/** Talks to the agent by microphone, also to its draft. */
const Talk = ({ agent, mayTalk }: { agent: ShownAgent; mayTalk: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const { contact } = useSearch({ from: '/shell/agents/$agentId' })
  const why = whyNotTalk(agent, mayTalk)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={why !== undefined}
        title={why}
        onClick={() => setOpen(true)}
      >
        Talk
      </Button>
      {isOpen && (
        <Suspense fallback={<Loading />}>
          <TalkDialog agent={agent} contactId={contact} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

const whyNotTalk = (agent: ShownAgent, mayTalk: boolean): string | undefined => {
  if (!mayTalk) return 'For administrators.'
  return agent.archived_at === undefined ? undefined : 'The agent is archived.'
}

const AgentActions = ({ agent, mayChange }: { agent: ShownAgent; mayChange: boolean }) => {
  const archive = useChange('archiveAgent')
  const { version } = agent
  const file = version > 0 ? agent.definition : (agent.draft?.file ?? {})
  return (
    <>
      <CopyText value={agent.id} what="agent id" isHidden />
      <TestCall agent={agent} />
      <Talk agent={agent} mayTalk={mayChange} />
      <Button
        size="compact-sm"
        variant="default"
        title="The file of the published version, without credentials."
        onClick={() =>
          saveText(
            fileNameOf(file, version > 0 ? version : undefined),
            sourceOf(file),
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
          disabledBecause={mayChange ? undefined : 'For administrators.'}
          onConfirm={() => archive.mutateAsync({ params: { agent_id: agent.id } })}
        />
      )}
    </>
  )
}

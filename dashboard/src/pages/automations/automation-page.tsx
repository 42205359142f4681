import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { atLeast } from '../../../../src/contract/roles.ts'
import { reading, useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { AutomationActions } from './automation-actions.tsx'
import { definitionOf, draftOf, emptyDraft, type Draft, type Members } from './draft.ts'
import { AutomationEditor } from './editor.tsx'
import { RunDialog } from './run-dialog.tsx'
import { useStepCounts } from './step-counts.tsx'
import type { Agents } from './step-fields.tsx'
import { Versions } from './versions.tsx'

type ShownAutomation = AnswerOf<'getAutomation'>

export const NewAutomation = () => {
  const agents = useQuery(reading('listAgents', {}))
  return (
    <Page
      title="New Automation"
      purpose="It takes runs as soon as it is published; a draft takes them once it is activated."
    >
      <Loaded result={agents}>{({ data }) => <NewEditor agents={data} />}</Loaded>
    </Page>
  )
}

const NewEditor = ({ agents }: { agents: Agents }) => {
  const { tab = 'steps', step } = useSearch({ from: '/shell/automations/new' })
  const navigate = useNavigate({ from: '/automations/new' })
  const create = useChange('createAutomation')
  const mayEdit = useMay(atLeast('admin'))
  const mayTry = useMay(atLeast('operator'))
  const [initial] = useState(() => emptyDraft(agents[0]?.id ?? ''))
  return (
    <AutomationEditor
      initial={initial}
      agents={agents}
      mayEdit={mayEdit}
      mayTry={mayTry}
      disabledBecause={mayEdit ? undefined : 'For administrators.'}
      tab={tab}
      onTab={(next) => void navigate({ search: (now) => ({ ...now, tab: next }), replace: true })}
      step={step}
      onStep={(name) =>
        void navigate({
          search: (now) => ({ ...now, step: name }),
          replace: true,
          resetScroll: false,
        })
      }
      mayBeDraft
      publish={async (file, status) => {
        const { id } = await create.mutateAsync({ query: { status }, body: file })
        await navigate({ to: '/automations/$automationId', params: { automationId: id } })
      }}
    />
  )
}

export const AutomationPage = () => {
  const { automationId } = useParams({ from: '/shell/automations/$automationId' })
  const params = { automation_id: automationId }
  const result = useQuery(reading('getAutomation', { params }))
  const agents = useQuery(reading('listAgents', {}))
  return (
    <Loaded result={result}>
      {(automation) => (
        <Page
          title={automation.name}
          purpose={`Version ${automation.published_version}. Runs that were accepted keep the version they were accepted with.`}
          actions={<AutomationActions automation={automation} />}
        >
          <Text component="div" size="sm">
            <StatusBadge status={automation.status} />{' '}
            <AnchorLink to="/runs" search={{ automation_id: automationId }}>
              Runs of this Automation
            </AnchorLink>
          </Text>
          <Loaded result={agents}>
            {({ data }) => (
              <PublishedEditor
                key={automation.published_version}
                automation={automation}
                agents={data}
              />
            )}
          </Loaded>
        </Page>
      )}
    </Loaded>
  )
}

const PublishedEditor = ({
  automation,
  agents,
}: {
  automation: ShownAutomation
  agents: Agents
}) => {
  const { id, published_version: version } = automation
  const {
    tab = 'steps',
    step,
    version: compared,
  } = useSearch({
    from: '/shell/automations/$automationId',
  })
  const navigate = useNavigate({ from: '/automations/$automationId' })
  const publish = useChange('publishAutomation')
  const mayEdit = useMay(atLeast('admin')) && automation.status !== 'archived'
  const mayTry = useMay(atLeast('operator'))
  const counts = useStepCounts(id)
  const [isRunning, running] = useDisclosure()
  const [initial] = useState(() => draftOf(automation, automation.definition))
  if (!initial) return <Text>This definition is none that the editor can show.</Text>
  const disabledBecause = whyNot(automation, mayEdit)
  const restore = (definition: Members, draft: Draft): Draft =>
    draftOf({ name: draft.name, description: draft.description }, definition) ?? draft
  return (
    <AutomationEditor
      initial={initial}
      agents={agents}
      mayEdit={mayEdit}
      mayTry={mayTry}
      counts={counts}
      disabledBecause={disabledBecause}
      tab={tab}
      onTab={(next) => void navigate({ search: (now) => ({ ...now, tab: next }), replace: true })}
      step={step}
      onStep={(name) =>
        void navigate({
          search: (now) => ({ ...now, step: name }),
          replace: true,
          resetScroll: false,
        })
      }
      publish={async (file) => {
        const query = { base_version: String(version) }
        await publish.mutateAsync({ params: { automation_id: id }, query, body: file })
      }}
      actions={({ isChanged }) => (
        <>
          <Button
            variant="default"
            disabled={!mayTry || automation.status !== 'active'}
            title={whyNoRun(automation, mayTry)}
            onClick={running.open}
          >
            Run
          </Button>
          <RunDialog
            automationId={id}
            version={version}
            hasChanges={isChanged}
            isOpen={isRunning}
            onClose={running.close}
          />
        </>
      )}
      extraTabs={[
        {
          value: 'versions',
          label: 'Versions',
          panel: ({ draft, setDraft }) => (
            <Versions
              automationId={id}
              published={version}
              draft={definitionOf(draft)}
              compared={compared === undefined ? undefined : Number(compared)}
              isReadOnly={!mayEdit}
              onCompare={(chosen) =>
                void navigate({
                  search: (now) => ({ ...now, version: String(chosen) }),
                  replace: true,
                })
              }
              onRestore={(_, definition) => setDraft(restore(definition, draft))}
            />
          ),
        },
      ]}
    />
  )
}

const whyNot = ({ status }: ShownAutomation, mayEdit: boolean): string | undefined => {
  if (status === 'archived') return 'The Automation is archived.'
  return mayEdit ? undefined : 'For administrators.'
}

const whyNoRun = ({ status }: ShownAutomation, mayRun: boolean): string | undefined => {
  if (!mayRun) return 'For operators and administrators.'
  return status === 'active'
    ? undefined
    : `A run needs an active Automation; this one is ${status}.`
}

import { Alert, Button, FileButton, Group, SimpleGrid, Stack, Tabs, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../client/send.ts'
import { Failure } from '../parts/states.tsx'
import { BehaviourFields } from './agent-behaviour.tsx'
import { TextFields } from './agent-fields.tsx'
import { TurnTakingFields } from './turn-taking-fields.tsx'
import { sourceOf, type AgentFile, type Problem } from './agent-file.ts'
import { AgentPreview } from './agent-preview.tsx'
import { AgentSource } from './agent-source.tsx'
import { bodyOf, useAgentCheck, type Written } from './use-agent-check.ts'

/** What stood in the service when a change was begun. */
export interface Seen {
  readonly revision: number
  readonly version: number
}

interface AgentFormProps {
  readonly agentId?: string
  /** The draft, or else what is published. */
  readonly base: AgentFile
  readonly seen: Seen
  readonly saveDraft: (file: AgentFile, seen: Seen) => Promise<unknown>
  readonly publish: (file: AgentFile, seen: Seen) => Promise<unknown>
  /** Whether there is something to publish before anything is changed here. */
  readonly mayPublishAsIs: boolean
  readonly disabledBecause: string | undefined
  readonly contactId: string | undefined
  readonly onContact: (id: string | undefined) => void
}

type Changed = Written & { readonly seen: Seen }

/** A file of more is no agent: the service takes 1 MiB. */
const maxImportBytes = 900_000

/** An agent in fields, and as the file that it is; both show the same. */
export const AgentForm = (properties: AgentFormProps) => {
  const { agentId, base, seen, disabledBecause, contactId, onContact } = properties
  const [changed, setChanged] = useState<Changed>()
  const [tab, setTab] = useState('texts')
  const [refused, setRefused] = useState<readonly Problem[]>([])
  const written = changed ?? { file: base, source: undefined, seen }
  const check = useAgentCheck(written, { agentId, contactId })
  const change = (next: Partial<Written>): void => setChanged({ ...written, ...next })

  /** The file that was written; its problems stay, where there is none. */
  const readFile = async (): Promise<AgentFile | undefined> => {
    if (written.source === undefined) return written.file
    const { file, problems } = await send('checkAgent', { body: bodyOf(written, agentId) })
    setRefused(file ? [] : problems)
    return file
  }
  const problemsOf = async (file: AgentFile): Promise<readonly Problem[]> =>
    (await send('checkAgent', { body: bodyOf({ file, source: undefined }, agentId) })).problems

  const saving = useMutation({
    mutationFn: async (how: 'draft' | 'publish') => {
      const file = await readFile()
      if (!file) return
      const problems = how === 'publish' ? await problemsOf(file) : []
      setRefused(problems)
      if (problems.length > 0) return
      await (how === 'draft' ? properties.saveDraft : properties.publish)(file, written.seen)
      setChanged((now) => (now === changed ? undefined : now))
    },
  })
  const showTab = useMutation({
    mutationFn: async (next: string | null) => {
      if (next === null) return
      if (next !== 'file' && written.source !== undefined) {
        const file = await readFile()
        if (!file) return
        change({ file, source: undefined })
      }
      setTab(next)
    },
  })
  const importing = useMutation({
    mutationFn: async (chosen: File | null) => {
      if (!chosen) return
      if (chosen.size > maxImportBytes) throw new Error('The file is too large for an agent.')
      change({ source: await chosen.text() })
      setTab('file')
    },
  })

  const isChanged = changed !== undefined
  useBlocker({
    shouldBlockFn: () =>
      isChanged &&
      !saving.isPending &&
      !window.confirm('Leave without saving? What you changed here is lost.'),
    enableBeforeUnload: isChanged && !saving.isPending,
  })
  const isReadOnly = disabledBecause !== undefined || saving.isPending
  const found = check.data?.problems ?? []
  const remaining = refused.filter((problem) => isAmong(found, problem))
  // A field that is still to be written is no fault, until it was to be published.
  const shown =
    refused.length > 0
      ? found
      : found.filter(({ path }) => (written.file[path.split(/[.[]/, 1)[0] ?? ''] ?? '') !== '')
  const fields = {
    file: written.file,
    problems: shown,
    isReadOnly,
    onChange: (file: AgentFile) => change({ file }),
  }
  const isOvertaken =
    isChanged &&
    (changed.seen.revision !== seen.revision || changed.seen.version !== seen.version) &&
    !saving.isPending
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate('draft')
      }}
    >
      <Stack>
        {saving.error && <Failure error={saving.error} />}
        {showTab.error && <Failure error={showTab.error} />}
        {importing.error && (
          <Alert role="alert" color="red" variant="outline" title="The file was not read">
            {importing.error.message}
          </Alert>
        )}
        {remaining.length > 0 && <Refused problems={remaining} />}
        {isOvertaken && <Overtaken onDiscard={() => setChanged(undefined)} />}
        <Tabs value={tab} onChange={(next) => showTab.mutate(next)} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="texts">Texts</Tabs.Tab>
            <Tabs.Tab value="behaviour">Behaviour</Tabs.Tab>
            <Tabs.Tab value="file">File</Tabs.Tab>
          </Tabs.List>
          <SimpleGrid cols={{ base: 1, md: 2 }} pt="md">
            <div>
              <Tabs.Panel value="texts">
                <TextFields {...fields} />
              </Tabs.Panel>
              <Tabs.Panel value="behaviour">
                <TurnTakingFields {...fields} />
                <BehaviourFields {...fields} />
              </Tabs.Panel>
              <Tabs.Panel value="file">
                <AgentSource
                  source={written.source ?? sourceOf(written.file)}
                  problems={found}
                  isReadOnly={isReadOnly}
                  onChange={(source) => change({ source })}
                />
              </Tabs.Panel>
            </div>
            <AgentPreview texts={check.data?.texts} contactId={contactId} onContact={onContact} />
          </SimpleGrid>
        </Tabs>
        {check.error && <Failure error={check.error} />}
        <Group>
          <Button
            type="submit"
            variant="default"
            loading={saving.isPending && saving.variables === 'draft'}
            disabled={isReadOnly || !isChanged}
          >
            Save draft
          </Button>
          <Button
            loading={saving.isPending && saving.variables === 'publish'}
            disabled={isReadOnly || (!isChanged && !properties.mayPublishAsIs)}
            onClick={() => saving.mutate('publish')}
          >
            Publish
          </Button>
          <FileButton
            accept="application/json,.json"
            disabled={isReadOnly}
            onChange={(chosen) => importing.mutate(chosen)}
          >
            {(button) => (
              <Button variant="default" disabled={isReadOnly} {...button}>
                Import file
              </Button>
            )}
          </FileButton>
          {disabledBecause && <Text size="sm">{disabledBecause}</Text>}
        </Group>
      </Stack>
    </form>
  )
}

const isAmong = (problems: readonly Problem[], { path, message }: Problem): boolean =>
  problems.some((problem) => problem.path === path && problem.message === message)

const Refused = ({ problems }: { problems: readonly Problem[] }) => (
  <Alert role="alert" color="red" variant="outline" title="Nothing was saved: mend this first">
    <ul className="problems">
      {problems.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <Text size="sm" span>
            {path === '' ? message : `${path}: ${message}`}
          </Text>
        </li>
      ))}
    </ul>
  </Alert>
)

const Overtaken = ({ onDiscard }: { onDiscard: () => void }) => (
  <Alert color="orange" variant="outline" title="This agent was changed meanwhile">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        Another person, or another window, saved it since you began. What you write here cannot be
        saved over that: copy what you need, and load the agent again.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onDiscard}>
        Load again
      </Button>
    </Stack>
  </Alert>
)

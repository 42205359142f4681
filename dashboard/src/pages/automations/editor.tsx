import { Button, Group, Stack, Tabs, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useMemo, useState, type ReactNode } from 'react'
import { Failure } from '../../parts/states.tsx'
import { CheckResult, useCheck } from './checks.tsx'
import { definitionOf, fileOf, type Draft, type Members, type Problem } from './draft.ts'
import { FlowPanel } from './flow/flow-panel.tsx'
import { readText, textOfDraft } from './json-text.ts'
import { SimulationPanel } from './simulation.tsx'
import type { StepCounts } from './step-counts.tsx'
import type { Agents } from './step-fields.tsx'
import { focusStep, StepList } from './step-list.tsx'

/** Of an Automation that is made; a version changes no status. */
type NewStatus = 'active' | 'draft'

export interface EditorProps {
  readonly initial: Draft
  readonly agents: Agents
  readonly mayEdit: boolean
  /** Operators may check and simulate what they may not change. */
  readonly mayTry: boolean
  readonly disabledBecause: string | undefined
  readonly tab: string
  readonly onTab: (tab: string) => void
  /** The name of the step that is selected, in the list and in the flow. */
  readonly step: string | undefined
  readonly onStep: (name: string) => void
  readonly publish: (file: Members, status: NewStatus) => Promise<void>
  /** A new one may be kept without taking runs. */
  readonly mayBeDraft?: boolean
  readonly counts?: StepCounts
  /** Further tabs and buttons: of an Automation that is published already. */
  readonly extraTabs?: readonly ExtraTab[]
  readonly actions?: (state: EditorState) => ReactNode
}

interface ExtraTab {
  readonly value: string
  readonly label: string
  readonly panel: (state: EditorState) => ReactNode
}

interface EditorState {
  readonly draft: Draft
  readonly isChanged: boolean
  readonly setDraft: (draft: Draft) => void
}

/** The steps as a list and as JSON; both show the same Automation, which is checked as one types. */
export const AutomationEditor = (properties: EditorProps) => {
  const { initial, agents, mayEdit, mayTry, disabledBecause, tab, onTab } = properties
  const { step, onStep } = properties
  const { publish, mayBeDraft = false, extraTabs = [], actions, counts } = properties
  const [draft, setDraft] = useState(initial)
  const [source, setSource] = useState<string>()
  const [jsonProblem, setJsonProblem] = useState<string>()
  const [wasAsked, setWasAsked] = useState(false)
  const [isSimulated, setIsSimulated] = useState(false)
  const isRefused = disabledBecause !== undefined || jsonProblem !== undefined
  const file = useMemo(() => fileOf(draft), [draft])
  const check = useCheck(file, mayTry)
  const isChanged = draft !== initial || jsonProblem !== undefined
  // Of a form that was only opened nothing is said: it is empty because it is new.
  const shownCheck = isChanged || wasAsked ? check.data : undefined
  const problems: readonly Problem[] = shownCheck?.problems ?? []
  const publishing = useMutation({ mutationFn: (status: NewStatus) => publish(file, status) })
  useUnsaved(isChanged && !publishing.isPending && !publishing.isSuccess)
  const type = (text: string): void => {
    setSource(text)
    const typed = readText(text, draft)
    setJsonProblem(typed.problem)
    if (typed.draft) setDraft(typed.draft)
  }
  const change = (next: Draft): void => {
    setSource(undefined)
    setJsonProblem(undefined)
    setDraft(next)
  }
  const state: EditorState = { draft, isChanged, setDraft: change }
  return (
    // No form: the Enter key in a field of a step must not publish.
    <Stack>
      {publishing.error && <Failure error={publishing.error} />}
      <TextInput
        label="Name"
        maxLength={200}
        maw="40rem"
        readOnly={!mayEdit}
        error={problems.find(({ path }) => path === 'name')?.message}
        value={draft.name}
        onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
      />
      <TextInput
        label="Description"
        maxLength={1000}
        maw="40rem"
        readOnly={!mayEdit}
        error={problems.find(({ path }) => path === 'description')?.message}
        value={draft.description}
        onChange={({ currentTarget }) => setDraft({ ...draft, description: currentTarget.value })}
      />
      <Group gap="xs">
        <Button
          variant="default"
          disabled={!mayTry}
          loading={wasAsked && check.isFetching}
          onClick={() => {
            setWasAsked(true)
            void check.refetch()
          }}
        >
          Validate
        </Button>
        <Button variant="default" disabled={!mayTry} onClick={() => setIsSimulated(true)}>
          Simulate
        </Button>
        <Button
          loading={publishing.isPending}
          disabled={isRefused}
          onClick={() => {
            setWasAsked(true)
            publishing.mutate('active')
          }}
        >
          Publish
        </Button>
        {mayBeDraft && (
          <Button
            variant="default"
            disabled={isRefused || publishing.isPending}
            onClick={() => {
              setWasAsked(true)
              publishing.mutate('draft')
            }}
          >
            Save draft
          </Button>
        )}
        {actions?.(state)}
        {disabledBecause && <Text size="sm">{disabledBecause}</Text>}
      </Group>
      {check.error && <Failure error={check.error} />}
      <CheckResult check={shownCheck} steps={draft.steps.length} wasAsked={wasAsked} />
      {isSimulated && <SimulationPanel definition={definitionOf(draft)} />}
      <Tabs value={tab} onChange={(chosen) => onTab(chosen ?? 'steps')} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="steps">Steps</Tabs.Tab>
          <Tabs.Tab value="definition">Definition</Tabs.Tab>
          {extraTabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="steps" pt="md">
          {jsonProblem === undefined ? (
            <div className="flow-and-list">
              <FlowPanel
                draft={draft}
                agents={agents}
                problems={problems}
                counts={counts}
                selected={step}
                onSelect={onStep}
                onEdit={focusStep}
              />
              <StepList
                draft={draft}
                agents={agents}
                problems={problems}
                isReadOnly={!mayEdit}
                counts={counts}
                selected={step}
                onSelect={onStep}
                onChange={change}
              />
            </div>
          ) : (
            <Text>The list follows once the text under Definition is mended.</Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="definition" pt="md">
          <Textarea
            label="Definition"
            description="JSON: the entry and the steps. A whole file of outdial automation publish may be pasted too."
            autosize
            minRows={12}
            maxRows={40}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            spellCheck={false}
            readOnly={!mayEdit}
            error={jsonProblem}
            value={source ?? textOfDraft(draft)}
            onChange={({ currentTarget }) => type(currentTarget.value)}
          />
        </Tabs.Panel>
        {extraTabs.map(({ value, panel }) => (
          <Tabs.Panel key={value} value={value} pt="md">
            {panel(state)}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

/** Asks before another page takes what was not published. A change of the address of this page is none. */
const useUnsaved = (isUnsaved: boolean): void => {
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isUnsaved &&
      current.pathname !== next.pathname &&
      !window.confirm('Leave without publishing? What you changed here is lost.'),
    enableBeforeUnload: isUnsaved,
  })
}

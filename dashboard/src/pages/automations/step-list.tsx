import { Button, Group, NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import {
  addStep,
  moveStep,
  ofKind,
  problemsOfStep,
  removeStep,
  renameStep,
  stepKinds,
  textOf,
  withStep,
  type Draft,
  type DraftStep,
  type Problem,
} from './draft.ts'
import { StepChoice } from './step-choice.tsx'
import { StepCount, type StepCounts } from './step-counts.tsx'
import { StepFields, type Agents } from './step-fields.tsx'

interface StepListProps {
  readonly draft: Draft
  readonly agents: Agents
  readonly problems: readonly Problem[]
  readonly isReadOnly: boolean
  /** Of an Automation that was published. */
  readonly counts?: StepCounts | undefined
  readonly selected: string | undefined
  readonly onSelect: (name: string) => void
  readonly onChange: (draft: Draft) => void
}

/** The steps as a list: every change can be made with the keyboard alone. */
export const StepList = (properties: StepListProps) => {
  const { draft, agents, problems, isReadOnly, counts, selected, onSelect, onChange } = properties
  const [told, setTold] = useState('')
  const [added, setAdded] = useState<number>()
  const names = draft.steps.map(({ name }) => name)
  const agentId = agents[0]?.id ?? ''
  const add = (afterKey?: number): void => {
    const made = addStep(draft, agentOf(draft) || agentId, afterKey)
    onChange(made.draft)
    setAdded(made.key)
    setTold('A step was added.')
  }
  return (
    <Stack>
      <div role="status">
        <Text size="sm">{told}</Text>
      </div>
      <StepChoice
        label="Begins at"
        value={draft.entry}
        names={names}
        error={problems.find(({ path }) => path === 'definition.entry')?.message}
        isReadOnly={isReadOnly}
        onChange={(entry) => onChange({ ...draft, entry })}
      />
      <Stack component="ol" className="steps" gap="sm">
        {draft.steps.map((each, at) => (
          <li key={each.key}>
            <StepCard
              step={each}
              place={`${at + 1} of ${draft.steps.length}`}
              isNew={each.key === added}
              draft={draft}
              names={names}
              agents={agents}
              problems={problemsOfStep(problems, each.name)}
              isReadOnly={isReadOnly}
              counts={counts}
              selected={selected}
              onSelect={onSelect}
              onChange={onChange}
              onInsert={() => add(each.key)}
              onTold={setTold}
            />
          </li>
        ))}
      </Stack>
      <Group>
        <Button variant="default" disabled={isReadOnly} onClick={() => add()}>
          Add step
        </Button>
      </Group>
    </Stack>
  )
}

const cardId = (name: string): string => `step-${name}`

/** Moves the focus to the first field of a step. */
export const focusStep = (name: string): void =>
  document.getElementById(cardId(name))?.querySelector('input')?.focus()

/** The agent of the first call, for further ones. */
const agentOf = (draft: Draft): string =>
  draft.steps.map(({ step }) => textOf(step, 'agent_id')).find((id) => id !== '') ?? ''

interface StepCardProps extends Omit<StepListProps, 'problems'> {
  readonly step: DraftStep
  readonly place: string
  readonly isNew: boolean
  readonly names: readonly string[]
  readonly problems: ReadonlyMap<string, string>
  readonly onInsert: () => void
  readonly onTold: (text: string) => void
}

const StepCard = (properties: StepCardProps) => {
  const { step: each, place, isNew, draft, names, agents, problems, isReadOnly } = properties
  const { selected, onSelect, onChange, onInsert, onTold } = properties
  const { key, name, step } = each
  const kind = textOf(step, 'type')
  const card = useRef<HTMLDivElement>(null)
  const isSelected = name === selected
  useEffect(() => {
    if (isSelected && !card.current?.contains(document.activeElement))
      card.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  const move = (by: -1 | 1): void => {
    onChange(moveStep(draft, key, by))
    onTold(`${name} was moved ${by < 0 ? 'up' : 'down'}.`)
  }
  const at = draft.steps.indexOf(each)
  const own = problems.get('') ?? problems.get('type')
  return (
    <Paper
      ref={card}
      id={cardId(name)}
      withBorder
      p="sm"
      component="section"
      aria-label={`Step ${place}: ${name}`}
      aria-current={isSelected || undefined}
      onFocus={() => {
        if (!isSelected) onSelect(name)
      }}
    >
      <Stack gap="xs">
        <Group align="flex-start" gap="xs">
          <StepName
            name={name}
            isNew={isNew}
            taken={names}
            error={own}
            isReadOnly={isReadOnly}
            onChange={(next) => {
              onChange(renameStep(draft, key, next))
              if (isSelected) onSelect(next)
            }}
          />
          <NativeSelect
            label="Kind"
            disabled={isReadOnly}
            value={kind}
            data={stepKinds.some((known) => known === kind) ? [...stepKinds] : [kind, ...stepKinds]}
            onChange={({ currentTarget }) => {
              const chosen = stepKinds.find((known) => known === currentTarget.value)
              if (chosen)
                onChange(
                  withStep(draft, key, ofKind(chosen, step, agentOf(draft) || agents[0]?.id || '')),
                )
            }}
          />
          <StepCount runs={properties.counts?.get(name)} />
        </Group>
        <StepFields
          step={step}
          names={names}
          agents={agents}
          problems={problems}
          isReadOnly={isReadOnly}
          onChange={(changed) => onChange(withStep(draft, key, changed))}
        />
        <Group gap="xs">
          <StepButton
            label="Move up"
            of={name}
            disabled={isReadOnly || at === 0}
            onClick={() => move(-1)}
          />
          <StepButton
            label="Move down"
            of={name}
            disabled={isReadOnly || at === draft.steps.length - 1}
            onClick={() => move(1)}
          />
          <StepButton label="Insert below" of={name} disabled={isReadOnly} onClick={onInsert} />
          <StepButton
            label="Remove"
            of={name}
            disabled={isReadOnly || draft.steps.length === 1}
            onClick={() => {
              onChange(removeStep(draft, key))
              onTold(`${name} was removed; what led to it leads on to the next step.`)
            }}
          />
        </Group>
      </Stack>
    </Paper>
  )
}

interface StepButtonProps {
  readonly label: string
  readonly of: string
  readonly disabled: boolean
  readonly onClick: () => void
}

const StepButton = ({ label, of, disabled, onClick }: StepButtonProps) => (
  <Button
    size="compact-xs"
    variant="default"
    aria-label={`${label}: ${of}`}
    disabled={disabled}
    onClick={onClick}
  >
    {label}
  </Button>
)

interface StepNameProps {
  readonly name: string
  readonly isNew: boolean
  readonly taken: readonly string[]
  readonly error: string | undefined
  readonly isReadOnly: boolean
  readonly onChange: (name: string) => void
}

/** Taken over when the field is left: half a name would meet those of other steps. */
const StepName = ({ name, isNew, taken, error, isReadOnly, onChange }: StepNameProps) => {
  const [typed, setTyped] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isNew) input.current?.focus()
  }, [isNew])
  const isTaken = typed !== undefined && typed !== name && taken.includes(typed)
  const take = (): void => {
    if (typed === undefined) return
    if (typed !== '' && !isTaken) onChange(typed)
    setTyped(undefined)
  }
  return (
    <TextInput
      ref={input}
      label="Step"
      maxLength={64}
      readOnly={isReadOnly}
      error={isTaken ? 'Another step is called so.' : error}
      value={typed ?? name}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        take()
      }}
    />
  )
}

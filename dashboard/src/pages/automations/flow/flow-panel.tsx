import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { fetchProgram } from '../../../client/fetch-program.ts'
import { Loading } from '../../../parts/states.tsx'
import type { Problem } from '../draft.ts'
import { problemsOfStep, type Draft } from '../draft.ts'
import type { StepCounts } from '../step-counts.tsx'
import type { Agents } from '../step-fields.tsx'
import { graphOf } from './graph.ts'
import type { StepMark } from './marks.ts'

/** The drawing's program is fetched when a flow is shown. */
const Flow = lazy(() =>
  fetchProgram(() => import('./flow.tsx')).then((program) => ({ default: program.Flow })),
)

interface FlowPanelProps {
  readonly draft: Draft
  readonly agents: Agents
  readonly problems: readonly Problem[]
  readonly counts: StepCounts | undefined
  readonly selected: string | undefined
  readonly onSelect: (name: string) => void
  /** Moves the focus to the step in the list. */
  readonly onEdit: (name: string) => void
}

/** The steps of a draft as a flow, with what is wrong with them and the runs that stand there. */
export const FlowPanel = (properties: FlowPanelProps) => {
  const { draft, agents, problems, counts, selected, onSelect, onEdit } = properties
  const graph = graphOf(draft, new Map(agents.map(({ id, name }) => [id, name])))
  const marks = new Map(
    graph.steps.map(({ name }): [string, StepMark] => [
      name,
      { runs: counts?.get(name), problems: [...problemsOfStep(problems, name).values()] },
    ]),
  )
  const chosen = graph.steps.find(({ name, isMissing }) => name === selected && !isMissing)
  return (
    <Stack component="section" aria-labelledby="flow" gap="xs" className="flow-beside">
      <Title order={2} size="h4" id="flow">
        Flow
      </Title>
      <Suspense fallback={<Loading />}>
        <Flow
          label="Steps as a flow. Arrow keys go from step to step, Enter selects."
          graph={graph}
          marks={marks}
          selected={selected}
          onSelect={onSelect}
        />
      </Suspense>
      {chosen === undefined ? (
        <Text size="sm">
          Select a step here or in the list: it is marked in both. The list says all that the flow
          shows.
        </Text>
      ) : (
        <Group gap="xs">
          <Text size="sm">
            Selected: {chosen.name}
            {marks.get(chosen.name)?.problems?.map((problem) => (
              <Text key={problem} span c="var(--mantine-color-error)" display="block">
                {problem}
              </Text>
            ))}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => onEdit(chosen.name)}>
            Go to it in the list
          </Button>
        </Group>
      )}
    </Stack>
  )
}

import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'

/** Active runs by the name of the step where they stand. */
export type StepCounts = ReadonlyMap<string, number>

/** Runs move by themselves: they are counted again. */
const refreshMs = 5_000

export const useStepCounts = (automationId: string): StepCounts => {
  const { data } = useQuery({
    ...reading('countRunsAtSteps', { params: { automation_id: automationId } }),
    refetchInterval: refreshMs,
  })
  const counts = new Map<string, number>()
  for (const { step, runs } of data?.data ?? [])
    if (step !== null) counts.set(step, (counts.get(step) ?? 0) + runs)
  return counts
}

/** Of every version: a run keeps the one it was accepted with. */
export const StepCount = ({ runs }: { runs: number | undefined }) =>
  runs === undefined ? null : (
    <Badge color="blue.8" variant="filled" tt="none" autoContrast={false} mt="1.9rem">
      {runs} {runs === 1 ? 'run' : 'runs'} here now
    </Badge>
  )

import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, use, useEffect, useState } from 'react'
import { formatInstantExactly, ZoneContext } from '../../../parts/instant.tsx'
import { fetchProgram } from '../../../client/fetch-program.ts'
import { Loading } from '../../../parts/states.tsx'
import type { AnswerOf } from '../../../client/table.ts'
import { draftOf } from '../draft.ts'
import { graphOf } from './graph.ts'
import { inOrder, momentOf } from './replay.ts'

const Flow = lazy(() =>
  fetchProgram(() => import('./flow.tsx')).then((program) => ({ default: program.Flow })),
)

type Run = AnswerOf<'getRun'>

/** How long a replay stays at each move. */
const moveMs = 1_200

interface RunReplayProps {
  readonly run: Run
  /** The move that is shown; undefined: the newest, also as it changes. */
  readonly sequence: number | undefined
  readonly onSequence: (sequence: number | undefined) => void
}

/** The run's way through the flow, move by move. */
export const RunReplay = ({ run, sequence, onSequence }: RunReplayProps) => {
  const zone = use(ZoneContext)
  const [isPlaying, setIsPlaying] = useState(false)
  const draft = draftOf({ name: '' }, run.definition)
  const moves = inOrder(run.moves)
  const last = moves.length - 1
  const found = moves.findIndex((move) => move.sequence === sequence)
  const index = found < 0 ? last : found
  const moment = momentOf(moves, index)
  const show = (at: number): void => onSequence(at >= last ? undefined : moves[at]?.sequence)
  useEffect(() => {
    if (!isPlaying) return undefined
    const timer = setTimeout(() => {
      if (index >= last) setIsPlaying(false)
      else show(index + 1)
    }, moveMs)
    return () => clearTimeout(timer)
  })
  if (!draft || !moment) return null
  const { move } = moment
  const said = `Move ${index + 1} of ${moves.length}, ${formatInstantExactly(move.at, zone)}: ${move.move.replaceAll('_', ' ')}${move.step === undefined ? '' : ` at ${move.step}`}. ${move.reason}`
  const showNewestAt = (name: string): void => {
    const at = moves.findLastIndex(({ step }) => step === name)
    if (at >= 0) show(at)
  }
  const play = (): void => {
    if (!isPlaying && index >= last) show(0)
    setIsPlaying(!isPlaying)
  }
  return (
    <Stack component="section" aria-labelledby="path" gap="xs">
      <Title order={2} size="h4" id="path">
        Path
      </Title>
      <Group gap="xs">
        <Button size="compact-sm" variant="default" disabled={last === 0} onClick={play}>
          {isPlaying ? 'Stop' : 'Play'}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={index <= 0}
          onClick={() => show(index - 1)}
        >
          Previous move
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={index >= last}
          onClick={() => show(index + 1)}
        >
          Next move
        </Button>
        <input
          type="range"
          className="replay"
          aria-label="Move of the run"
          aria-valuetext={said}
          min={0}
          max={last}
          value={index}
          disabled={last === 0}
          onChange={({ currentTarget }) => show(Number(currentTarget.value))}
        />
      </Group>
      <div role="status">
        <Text size="sm">{said}</Text>
      </div>
      <Suspense fallback={<Loading />}>
        <Flow
          label="The run's path. Arrow keys go from step to step, Enter shows its newest move there."
          graph={graphOf(draft)}
          marks={moment.marks}
          litWays={moment.ways}
          selected={undefined}
          onSelect={showNewestAt}
        />
      </Suspense>
    </Stack>
  )
}

import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { Loaded } from '../parts/states.tsx'

type Difference = AnswerOf<'compareAgentVersions'>['data'][number]

interface AgentDifferencesProps {
  readonly agentId: string
  /** Each a version's number, or `draft`. */
  readonly before: string
  readonly after: string
}

export const AgentDifferences = ({ agentId, before, after }: AgentDifferencesProps) => {
  const result = useQuery(
    reading('compareAgentVersions', {
      params: { agent_id: agentId },
      query: { before, after },
    }),
  )
  return (
    <Loaded result={result}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm">Both are the same.</Text>
        ) : (
          <Stack component="dl" gap="xs" m={0}>
            {data.map((difference) => (
              <div key={difference.path}>
                <Text component="dt" size="sm" fw={600} ff="monospace">
                  {difference.path}
                </Text>
                <dd className="difference">
                  <Change difference={difference} />
                </dd>
              </div>
            ))}
          </Stack>
        )
      }
    </Loaded>
  )
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** Texts that differ in more words than these are shown one below the other. */
const maxEditLength = 2_000

const Change = ({
  difference: { before, after, is_hidden: isHidden },
}: {
  difference: Difference
}) => {
  const parts = useMemo(
    () =>
      before === undefined || after === undefined || isHidden
        ? undefined
        : diffWordsWithSpace(textOf(before), textOf(after), { maxEditLength }),
    [before, after, isHidden],
  )
  if (isHidden) return <Text size="sm">The value was changed; it is not shown.</Text>
  if (!parts)
    return (
      <>
        {before !== undefined && <del>{textOf(before)}</del>}
        {after !== undefined && <ins>{textOf(after)}</ins>}
      </>
    )
  return parts.map(({ value, added, removed }, at) => {
    if (added) return <ins key={at}>{value}</ins>
    return removed ? <del key={at}>{value}</del> : <span key={at}>{value}</span>
  })
}

import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { pollMs } from '../client/changes.ts'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { HourBars } from '../parts/hour-bars.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'

type Overview = AnswerOf<'getOverview'>

const refreshMs = 5_000

export const OverviewPage = () => {
  const result = useQuery({
    ...reading('getOverview', {}),
    refetchInterval: () => pollMs(refreshMs),
  })
  return (
    <Page title="Overview" purpose="The organization’s day so far.">
      <Loaded result={result}>{(overview) => <Figures overview={overview} />}</Loaded>
    </Page>
  )
}

const Figures = ({ overview }: { overview: Overview }) => {
  const { ended_today: ended, answered_today: answered } = overview
  return (
    <>
      <SimpleGrid component="dl" className="figures" cols={{ base: 1, xs: 2, md: 3 }} m={0}>
        <Figure name="Calls today">{overview.calls_today}</Figure>
        <Figure name="Answer rate" note={`${answered} answered of ${ended} ended`}>
          {ended === 0 ? '–' : `${Math.round((answered / ended) * 100)} %`}
        </Figure>
        <Figure
          name="Reply time"
          note={
            overview.reply_p95_ms === null
              ? 'median'
              : `median; 95 % within ${rounded(overview.reply_p95_ms)}`
          }
        >
          {rounded(overview.reply_p50_ms)}
        </Figure>
        <Figure
          name="Channels in use"
          note={`of ${overview.channels_allowed} that the organization may have`}
        >
          <AnchorLink to="/live">{overview.live_now} live now</AnchorLink>
        </Figure>
        <Figure name="Waiting">
          <AnchorLink to="/calls" search={{ status: 'queued' }}>
            {overview.queued_now} queued
          </AnchorLink>
        </Figure>
        <Figure name="Oldest queued">
          {overview.oldest_queued_at === null ? (
            'none waits'
          ) : (
            <Instant at={overview.oldest_queued_at} />
          )}
        </Figure>
      </SimpleGrid>
      <Stack component="section" aria-labelledby="by-hour" gap="xs">
        <Title order={2} size="h4" id="by-hour">
          Calls by hour
        </Title>
        {overview.calls_today === 0 ? (
          <Empty
            what="Nobody was called today."
            command="./outdial dial --org ORG --agent AGENT +12025550100 --follow"
          />
        ) : (
          <HourBars hours={overview.by_hour} timeZone={overview.time_zone} />
        )}
      </Stack>
    </>
  )
}

const rounded = (milliseconds: number | null): string =>
  milliseconds === null ? '–' : `${Math.round(milliseconds)} ms`

const Figure = ({ name, note, children }: { name: string; note?: string; children: ReactNode }) => (
  <Paper withBorder p="sm">
    <Text component="dt" size="sm">
      {name}
    </Text>
    <Text component="dd" fw={600} size="xl" m={0}>
      {children}
      {note !== undefined && (
        <Text span size="xs" fw={400} display="block">
          {note}
        </Text>
      )}
    </Text>
  </Paper>
)

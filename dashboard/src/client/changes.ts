import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { sessionReading, type Session } from './session.ts'
import { shareStream, type Kind, type Told } from './stream.ts'
import type { ReadName } from './table.ts'
import { forgetWords, takeWords } from './words.ts'

/** The readings that a change of each kind makes old. */
const readingsOf: Readonly<Record<Kind, ReadonlySet<string>>> = {
  call: new Set<ReadName>(['getOverview', 'listCalls', 'listLiveCalls', 'listRecordings']),
  batch: new Set<ReadName>(['listBatches', 'getBatch', 'listRecipients']),
  run: new Set<ReadName>(['listRuns', 'getRun', 'countRunsAtSteps']),
}

const longestSilenceMs = 12_000
/** Changes that come together are asked for together. */
const gatherMs = 500
/** Where changes never cease, pages are asked for anew this often. */
const leastBetweenMs = 2_000
/** With a stream, pages ask by themselves this rarely. */
const followedPollMs = 30_000

let lastAliveMs = -Infinity

const isFollowing = (): boolean => performance.now() - lastAliveMs < longestSilenceMs

/** How often a page asks again by itself: often only where no stream tells it. */
export const pollMs = (withoutStream: number): number =>
  isFollowing() ? followedPollMs : withoutStream

/** Keeps what is shown up to date with the organization, by one stream of the whole browser. */
export const useChanges = ({ id, organization_id: organizationId }: Session): void => {
  const queries = useQueryClient()
  useEffect(() => {
    const gathered = gather(queries)
    const stop = shareStream({ sessionId: id, organizationId }, (told) => {
      if (told.event === 'alive') lastAliveMs = performance.now()
      // The session may have ended, or look at another organization: its reading finds out.
      else if (told.event === 'refused') void queries.invalidateQueries(sessionReading)
      else if (told.event === 'words') takeWords(told.calls)
      else gathered.add(told)
    })
    return () => {
      stop()
      gathered.stop()
      forgetWords()
      lastAliveMs = -Infinity
    }
  }, [queries, id, organizationId])
}

type Gathered = Extract<Told, { event: 'change' | 'reset' }>

const gather = (queries: QueryClient) => {
  const names = new Set<string>()
  /** Calls whose page is old; undefined for every call. */
  let calls: Set<string> | undefined = new Set()
  let timer: ReturnType<typeof setTimeout> | undefined
  let askedAtMs = -Infinity
  const ask = (): void => {
    timer = undefined
    askedAtMs = performance.now()
    const isOld = isAmong(new Set(names), calls)
    names.clear()
    calls = new Set()
    void queries.invalidateQueries({ predicate: isOld })
  }
  return {
    add: (told: Gathered): void => {
      const kinds: readonly Kind[] =
        told.event === 'change' ? [told.kind] : ['call', 'batch', 'run']
      const isOnlyWords = told.event === 'change' && told.only === 'words'
      if (!isOnlyWords)
        for (const kind of kinds) for (const name of readingsOf[kind]) names.add(name)
      if (told.event === 'reset') calls = undefined
      else if (told.kind === 'call') calls?.add(told.id)
      timer ??= setTimeout(ask, Math.max(gatherMs, askedAtMs + leastBetweenMs - performance.now()))
    },
    stop: (): void => clearTimeout(timer),
  }
}

const isAmong =
  (names: ReadonlySet<string>, calls: ReadonlySet<string> | undefined) =>
  ({ queryKey: [name, input] }: Pick<Query, 'queryKey'>): boolean => {
    if (typeof name !== 'string') return false
    if (name !== 'getCall' && name !== 'getCallTrace') return names.has(name)
    const { params } = input as { params: { call_id: string } }
    return calls?.has(params.call_id) ?? true
  }

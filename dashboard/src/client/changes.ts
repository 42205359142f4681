import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ReadName } from './table.ts'

type Kind = 'call' | 'batch' | 'run'

/** What the tab that holds the stream tells the browser's other tabs, and itself. */
type Told =
  | { readonly event: 'alive' | 'reset' }
  | { readonly event: 'change'; readonly kind: Kind; readonly id: string }

/** The readings that a change of each kind makes old. */
const readingsOf: Readonly<Record<Kind, ReadonlySet<string>>> = {
  call: new Set<ReadName>(['getOverview', 'listCalls', 'getCall', 'listRecordings']),
  batch: new Set<ReadName>(['listBatches', 'getBatch', 'listRecipients']),
  run: new Set<ReadName>(['listRuns', 'getRun']),
}

const aliveMs = 5_000
const longestSilenceMs = 12_000
/** After a refusal, and while it lasts the pages ask by themselves. */
const retryMs = 30_000
/** Changes that come together are asked for together. */
const gatherMs = 500
/** With a stream, pages ask by themselves this rarely. */
const followedPollMs = 30_000

let lastAliveMs = -Infinity

const isFollowing = (): boolean => performance.now() - lastAliveMs < longestSilenceMs

/** How often a page asks again by itself: often only where no stream tells it. */
export const pollMs = (withoutStream: number): number =>
  isFollowing() ? followedPollMs : withoutStream

/** Keeps what is shown up to date with the organization, by one stream of the whole browser. */
export const useChanges = (scope: string): void => {
  const queries = useQueryClient()
  useEffect(() => {
    const gathered = gather(queries)
    const stop = shareStream(scope, (told) => {
      if (told.event === 'alive') lastAliveMs = performance.now()
      else gathered.add(told)
    })
    return () => {
      stop()
      gathered.stop()
      lastAliveMs = -Infinity
    }
  }, [queries, scope])
}

const gather = (queries: QueryClient) => {
  const names = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = (): void => {
    timer = undefined
    const asked = new Set(names)
    names.clear()
    void queries.invalidateQueries({
      predicate: ({ queryKey: [name] }) => typeof name === 'string' && asked.has(name),
    })
  }
  return {
    add: (told: Exclude<Told, { event: 'alive' }>): void => {
      const kinds: readonly Kind[] =
        told.event === 'change' ? [told.kind] : ['call', 'batch', 'run']
      for (const kind of kinds) for (const name of readingsOf[kind]) names.add(name)
      timer ??= setTimeout(ask, gatherMs)
    },
    stop: (): void => clearTimeout(timer),
  }
}

/** One tab holds the stream and tells the others; when it is closed, the next one does. */
const shareStream = (scope: string, tell: (told: Told) => void): (() => void) => {
  const name = `outdial-changes ${scope}`
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }: MessageEvent<Told>) => tell(data))
  const stopping = new AbortController()
  const { signal } = stopping
  const hold = () =>
    holdStream(signal, (told) => {
      tell(told)
      channel.postMessage(told)
    })
  // Only pages of https or this machine have locks; each tab of another has a stream of its own.
  const locks = (navigator as Partial<Navigator>).locks
  const held = locks ? locks.request(name, { signal }, hold) : hold()
  held.catch(() => undefined)
  return () => {
    stopping.abort()
    channel.close()
  }
}

const holdStream = (signal: AbortSignal, tell: (told: Told) => void): Promise<void> =>
  new Promise((resolve) => {
    let source = openStream(tell)
    let closedAtMs: number | undefined
    const timer = setInterval(() => {
      if (source.readyState === EventSource.OPEN) tell({ event: 'alive' })
      if (source.readyState !== EventSource.CLOSED) return
      closedAtMs ??= performance.now()
      if (performance.now() - closedAtMs < retryMs) return
      closedAtMs = undefined
      source = openStream(tell)
    }, aliveMs)
    signal.addEventListener('abort', () => {
      clearInterval(timer)
      source.close()
      resolve()
    })
  })

const openStream = (tell: (told: Told) => void): EventSource => {
  const source = new EventSource('/console/events')
  source.addEventListener('open', () => tell({ event: 'alive' }))
  source.addEventListener('reset', () => tell({ event: 'reset' }))
  source.addEventListener('change', ({ data }: MessageEvent<string>) => {
    const { kind, id } = JSON.parse(data) as { kind: Kind; id: string }
    tell({ event: 'change', kind, id })
  })
  return source
}

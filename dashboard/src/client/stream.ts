import { onWantedChange, wantedCalls, wordsParameter } from './stream-interest.ts'
import type { CallWords } from './words.ts'

export type Kind = 'call' | 'batch' | 'run'

/** What the tab that holds the stream tells the browser's other tabs, and itself. */
export type Told =
  | { readonly event: 'alive' }
  /** The server ended the stream and opens no other one as it is. */
  | { readonly event: 'refused' }
  | { readonly event: 'reset' }
  | {
      readonly event: 'change'
      readonly kind: Kind
      readonly id: string
      /** No more than what was said in a call. */
      readonly only?: 'words'
    }
  | { readonly event: 'words'; readonly calls: readonly CallWords[] }

/** What a tab tells the one that holds the stream. */
interface Wanted {
  readonly event: 'wanted'
  readonly tab: string
  readonly calls: readonly string[]
}

const aliveMs = 5_000
/** A tab that was closed says nothing any more. */
const forgottenMs = 15_000
/** After a refusal, and while it lasts the pages ask by themselves. */
const retryMs = 30_000

/** One tab holds the stream and tells the others; when it is closed, the next one does. */
export const shareStream = (
  { sessionId, organizationId }: { sessionId: string; organizationId: string },
  tell: (told: Told) => void,
): (() => void) => {
  const name = `outdial-changes ${sessionId} ${organizationId}`
  const tab = crypto.randomUUID()
  const channel = new BroadcastChannel(name)
  const stopping = new AbortController()
  const { signal } = stopping
  const wants = createWants(tab)
  let held: ReturnType<typeof holdStream> | undefined

  const announce = (): void => {
    const own: Wanted = { event: 'wanted', tab, calls: wantedCalls() }
    wants.take(own)
    channel.postMessage(own)
    held?.renew()
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Told | Wanted>) => {
    if (data.event !== 'wanted') return tell(data)
    wants.take(data)
    held?.renew()
  })
  onWantedChange(announce)
  const repeated = setInterval(announce, aliveMs)
  announce()
  const hold = () => {
    held = holdStream(organizationId, signal, wants.all, (told) => {
      tell(told)
      channel.postMessage(told)
    })
    return held.over
  }
  // Only pages of https or this machine have locks; each tab of another has a stream of its own.
  const locks = (navigator as Partial<Navigator>).locks
  const over = locks ? locks.request(name, { signal }, hold) : hold()
  over.catch(() => undefined)
  return () => {
    onWantedChange(undefined)
    clearInterval(repeated)
    stopping.abort()
    channel.close()
  }
}

/** What the browser's tabs want to read, each for as long as it says so. */
const createWants = (ownTab: string) => {
  const tabs = new Map<string, { readonly calls: readonly string[]; readonly atMs: number }>()
  return {
    take: ({ tab, calls }: Wanted): void => {
      tabs.set(tab, { calls, atMs: performance.now() })
      for (const [other, { atMs }] of tabs)
        if (other !== ownTab && performance.now() - atMs > forgottenMs) tabs.delete(other)
    },
    all: (): readonly string[] => [...tabs.values()].flatMap(({ calls }) => calls),
  }
}

/** Keeps a stream open, and opens another one when other words are wanted. */
const holdStream = (
  organizationId: string,
  signal: AbortSignal,
  wanted: () => readonly string[],
  tell: (told: Told) => void,
) => {
  const over = Promise.withResolvers<void>()
  let words = wordsParameter(wanted())
  let lastId: string | undefined
  const open = (): EventSource =>
    openStream({ organizationId, words, after: lastId }, tell, (id) => {
      lastId = id
    })
  let source = open()
  let closedAtMs: number | undefined
  const timer = setInterval(() => {
    if (source.readyState === EventSource.OPEN) tell({ event: 'alive' })
    if (source.readyState !== EventSource.CLOSED) return
    closedAtMs ??= performance.now()
    if (performance.now() - closedAtMs < retryMs) return
    closedAtMs = undefined
    source = open()
  }, aliveMs)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    source.close()
    over.resolve()
  })
  return {
    over: over.promise,
    renew: (): void => {
      const next = wordsParameter(wanted())
      if (next === words || signal.aborted) return
      words = next
      source.close()
      source = open()
    },
  }
}

const openStream = (
  {
    organizationId,
    words,
    after,
  }: { organizationId: string; words: string | undefined; after: string | undefined },
  tell: (told: Told) => void,
  onId: (id: string) => void,
): EventSource => {
  const asked = new URLSearchParams({
    organization: organizationId,
    ...(words && { words }),
    ...(after && { after }),
  })
  const source = new EventSource(`/console/events?${asked.toString()}`)
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) tell({ event: 'refused' })
  })
  source.addEventListener('open', () => tell({ event: 'alive' }))
  source.addEventListener('position', ({ lastEventId }) => onId(lastEventId))
  source.addEventListener('reset', ({ lastEventId }) => {
    onId(lastEventId)
    tell({ event: 'reset' })
  })
  source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
    onId(lastEventId)
    const change = JSON.parse(data) as Omit<Extract<Told, { event: 'change' }>, 'event'>
    tell({ event: 'change', ...change })
  })
  source.addEventListener('words', ({ data }: MessageEvent<string>) => {
    const { calls } = JSON.parse(data) as { calls: readonly CallWords[] }
    tell({ event: 'words', calls })
  })
  return source
}

import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { hasStatus, isPassing, type RequestFailure } from './failure.ts'
import { send } from './send.ts'
import type { AnswerOf, InputOf, ReadName, WriteName } from './table.ts'

/** An answer this fresh is shown without asking again. */
const staleMs = 10_000
/** Tries of a reading while the service is away. */
const maxTries = 5
const firstRetryMs = 500
const longestRetryMs = 10_000

/** A change that is done waits this long for what it made old. */
const longestRefreshMs = 1_000

/** `onSignedOut` is called when the service says that nobody is signed in. */
export const createQueries = (onSignedOut: () => void): QueryClient => {
  const onError = (error: unknown): void => {
    if (hasStatus(error, 401)) onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: staleMs,
        retry: (count, error) => count < maxTries && isPassing(error),
        retryDelay: (count) => Math.min(longestRetryMs, firstRetryMs * 2 ** count),
      },
    },
  })
}

/** The reading of an operation, under its name and input. */
export const reading = <Name extends ReadName>(name: Name, input: InputOf<Name>) =>
  queryOptions<AnswerOf<Name>, RequestFailure>({
    queryKey: [name, input],
    queryFn: ({ signal }) => send(name, input, { signal }),
  })

/** Asks again every `everyMs` until it is over. What the service refuses is not asked for again. */
export const refreshedUntil =
  <Data>(isOver: (data: Data) => boolean, everyMs: number) =>
  ({ state: { data, error } }: { state: { data: Data | undefined; error: unknown } }) =>
    (error !== null && !isPassing(error)) || (data !== undefined && isOver(data)) ? false : everyMs

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** A change; afterwards every reading that is shown is asked for again. */
export const useChange = <Name extends WriteName>(name: Name) => {
  const queries = useQueryClient()
  return useMutation<AnswerOf<Name>, RequestFailure, InputOf<Name>>({
    mutationKey: [name],
    mutationFn: (input) => send(name, input),
    // The page says that it is done at the latest then, whatever is still being read.
    onSuccess: () => Promise.race([queries.invalidateQueries(), pause(longestRefreshMs)]),
  })
}

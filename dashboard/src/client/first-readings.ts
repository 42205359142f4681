import type { QueryClient } from '@tanstack/react-query'
import { earlyRequests } from './early-requests.ts'
import { reading } from './queries.ts'
import { sessionReading } from './session.ts'
import type { InputOf, ReadName } from './table.ts'

/** Reads what was asked for before the application ran, under the names by which the pages look for it. */
export const readEarly = (queries: QueryClient): readonly Promise<void>[] =>
  [...earlyRequests()].map(({ name, input }) =>
    name === 'getSession'
      ? queries.prefetchQuery(sessionReading)
      : queries.prefetchQuery(reading(name as ReadName, input as InputOf<ReadName>)),
  )

import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { Role } from '../../../src/contract/roles.ts'
import type { RequestFailure } from './failure.ts'
import { reading } from './queries.ts'
import { send } from './send.ts'
import type { AnswerOf } from './table.ts'
import { showOrganization, takeOpening } from './window-organization.ts'

export type Session = AnswerOf<'getSession'>

/** Who is signed in. Its first answer says which organization the window shows from then on. */
export const sessionReading = queryOptions<Session, RequestFailure>({
  queryKey: reading('getSession', {}).queryKey,
  queryFn: async ({ signal }) => {
    const opening = takeOpening()
    if (opening !== undefined)
      await send('chooseOrganization', { body: { organization_id: opening } }).catch(
        () => undefined,
      )
    const session = await send('getSession', {}, { signal })
    showOrganization(session.organization_id)
    return session
  },
})

/** Who is signed in. Below the shell only: the shell waits for it. */
export const useSession = (): Session => useSuspenseQuery(sessionReading).data

/** Whether the role of the one who is signed in is among those of an operation. */
export const useMay = (anyRole: readonly Role[]): boolean => anyRole.includes(useSession().role)

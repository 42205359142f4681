import { useSuspenseQuery } from '@tanstack/react-query'
import type { Role } from '../../../src/contract/roles.ts'
import { reading } from './queries.ts'
import type { AnswerOf } from './table.ts'

export type Session = AnswerOf<'getSession'>

export const sessionReading = reading('getSession', {})

/** Who is signed in. Below the shell only: the shell waits for it. */
export const useSession = (): Session => useSuspenseQuery(sessionReading).data

/** Whether the role of the one who is signed in is among those of an operation. */
export const useMay = (anyRole: readonly Role[]): boolean => anyRole.includes(useSession().role)

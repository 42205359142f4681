import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RequestFailure } from '../client/failure.ts'
import { send } from '../client/send.ts'
import type { AnswerOf, InputOf } from '../client/table.ts'
import type { AgentFile } from './agent-file.ts'

export type AgentCheck = AnswerOf<'checkAgent'>
type CheckBody = NonNullable<InputOf<'checkAgent'>['body']>

/** The members of the form, or the text of the file. */
export interface Written {
  readonly file: AgentFile
  /** Stands in the place of the file while it is written as text. */
  readonly source: string | undefined
}

/** How long nobody types before the service is asked. */
const pauseMs = 400

export const bodyOf = ({ file, source }: Written, agentId: string | undefined): CheckBody => ({
  ...(source === undefined ? { file } : { source }),
  ...(agentId !== undefined && { agent_id: agentId }),
})

/** What the service says to what was written, as one types; until it does, what it said before. */
export const useAgentCheck = (
  written: Written,
  { agentId, contactId }: { agentId: string | undefined; contactId: string | undefined },
) => {
  const body = { ...bodyOf(written, agentId), ...(contactId && { contact_id: contactId }) }
  // As text, because a value is told from the one before by its identity.
  const [settled] = useDebouncedValue(JSON.stringify(body), pauseMs)
  return useQuery<AgentCheck, RequestFailure>({
    queryKey: ['checkAgent', settled],
    queryFn: ({ signal }) =>
      send('checkAgent', { body: JSON.parse(settled) as CheckBody }, { signal }),
    placeholderData: keepPreviousData,
  })
}

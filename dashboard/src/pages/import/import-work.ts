import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { RequestFailure } from '../../client/failure.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf } from '../../client/table.ts'

type Work = AnswerOf<'getImportWork'>

/** How far the work on a large file is. */
export interface WorkProgress {
  readonly done: number
  readonly total: number
}

/** How often the service is asked how far it is. */
const lookMs = 1_000

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** What came of the work on a file; meanwhile how far it is is told. */
export const endOfWork = async (
  importId: string,
  tell: (progress: WorkProgress) => void,
): Promise<Work> => {
  for (;;) {
    const work = await send('getImportWork', { params: { import_id: importId } })
    if (work.status === 'failed')
      throw new RequestFailure(work.failure?.message ?? 'The file could not be worked on.', {
        status: 409,
        code: 'resource_state_conflict',
      })
    if (work.status === 'done' || work.status === 'none') return work
    tell(work)
    await pause(lookMs)
  }
}

/**
 * A change of a file that may outlast its request. `progress` is given while it does. `ends`: the file is gone then, and is
 * not read again by the page that still shows it.
 */
export const useImportWork = <Input, Result>(
  change: (input: Input, tell: (progress: WorkProgress) => void) => Promise<Result>,
  what: 'checks' | 'ends' = 'checks',
) => {
  const queries = useQueryClient()
  const [progress, setProgress] = useState<WorkProgress>()
  const mutation = useMutation<Result, RequestFailure, Input>({
    mutationFn: (input) => change(input, setProgress).finally(() => setProgress(undefined)),
    onSuccess: () =>
      void queries.invalidateQueries({
        predicate: ({ queryKey: [name] }) => what === 'checks' || name !== 'getImport',
      }),
  })
  return { ...mutation, progress }
}

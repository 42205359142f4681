import { Alert, Code, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RequestFailure } from '../../client/failure.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf } from '../../client/table.ts'
import type { Members } from './draft.ts'

type Check = AnswerOf<'checkAutomation'>

/** How long nothing is typed before the service is asked. */
const pauseMs = 300
/** A check is kept as long as it is shown. */
const keptMs = 10_000

/** What the service finds wrong with the file as it is typed. */
export const useCheck = (file: Members, isAllowed: boolean) => {
  const [settled] = useDebouncedValue(file, pauseMs)
  return useQuery<Check, RequestFailure>({
    queryKey: ['checkAutomation', settled],
    queryFn: ({ signal }) => send('checkAutomation', { body: settled }, { signal }),
    enabled: isAllowed,
    placeholderData: keepPreviousData,
    gcTime: keptMs,
  })
}

/** Every problem with its place; said once it was asked for, or while there is one. */
export const CheckResult = ({
  check,
  steps,
  wasAsked,
}: {
  check: Check | undefined
  steps: number
  wasAsked: boolean
}) => {
  if (!check) return null
  if (check.problems.length === 0)
    return (
      <div role="status">
        {wasAsked && (
          <Text size="sm">
            No problem in {steps} {steps === 1 ? 'step' : 'steps'}.
          </Text>
        )}
      </div>
    )
  return (
    <Alert
      role={wasAsked ? 'alert' : 'status'}
      color="red"
      variant="outline"
      title={`${check.problems.length}${check.truncated ? ' and more' : ''} ${check.problems.length === 1 ? 'problem' : 'problems'} to mend`}
    >
      <ul className="problems">
        {check.problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <Code>{path}</Code> {message}
          </li>
        ))}
      </ul>
    </Alert>
  )
}

import { Alert, Button, Code, Group, Loader, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { hasStatus, RequestFailure } from '../client/failure.ts'
import { CopyText } from './copy-text.tsx'

export const Loading = () => (
  <Group role="status" gap="xs">
    <Loader size="sm" aria-hidden />
    <Text size="sm">Loading</Text>
  </Group>
)

/** What a failed request came to, with what may be done about it. */
export const Failure = ({ error, retry }: { error: unknown; retry?: () => void }) => {
  if (hasStatus(error, 403)) return <NotPermitted error={error} />
  const known = error instanceof RequestFailure ? error : undefined
  return (
    <Alert role="alert" color="red" variant="outline" title={titleOf(known)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{known?.message ?? 'The page met an error of its own. Reload it.'}</Text>
        {known && known.fields.length > 0 && <Problems failure={known} />}
        {known?.retryAfterSeconds !== undefined && (
          <Text size="sm">Try again in {known.retryAfterSeconds} seconds.</Text>
        )}
        {known?.requestId && (
          <Text size="sm">
            Request <CopyText value={known.requestId} what="request id" />
          </Text>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

const titleOf = (failure: RequestFailure | undefined): string => {
  if (failure?.status === 404) return 'There is no such thing here'
  if (failure?.status === 409) return 'This does not fit its state'
  if (failure?.status === 0) return 'The service cannot be reached'
  return 'This did not work'
}

const Problems = ({ failure }: { failure: RequestFailure }) => (
  <ul>
    {failure.fields.map(({ path, code }) => (
      <li key={`${path} ${code}`}>
        <Code>{path}</Code> {code.replaceAll('_', ' ')}
      </li>
    ))}
  </ul>
)

const NotPermitted = ({ error }: { error: unknown }) => (
  <Alert role="alert" color="indigo" variant="outline" title="Your role does not allow this">
    <Text size="sm">
      {error instanceof Error ? `${error.message} ` : ''}An owner or administrator of the
      organization can change your role under Members.
    </Text>
  </Alert>
)

interface EmptyProps {
  readonly what: string
  /** The next command, or a curl that makes the first one. */
  readonly command?: string
  readonly children?: ReactNode
}

/** Says that there is nothing, and how the first one comes to be. */
export const Empty = ({ what, command, children }: EmptyProps) => (
  <Stack className="empty-rows" gap="xs" align="flex-start">
    <Text>{what}</Text>
    {command && (
      <Group gap="xs" wrap="nowrap" align="flex-start" maw="100%">
        <Code block component="pre" className="command">
          {command}
        </Code>
        <CopyText value={command} what="command" isHidden />
      </Group>
    )}
    {children}
  </Stack>
)

/** Shows what a reading brought; before and without it, why there is nothing. */
export const Loaded = <T,>({
  result,
  children,
}: {
  result: UseQueryResult<T, RequestFailure>
  children: (data: T) => ReactNode
}) => {
  if (result.data !== undefined) return children(result.data)
  if (result.error) return <Failure error={result.error} retry={() => void result.refetch()} />
  return <Loading />
}

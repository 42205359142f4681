import { Code, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { reading } from '../../client/queries.ts'
import type { AnswerOf } from '../../client/table.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { TargetLink } from './target-link.tsx'

type Request = AnswerOf<'getApiRequest'>

export const RequestPage = () => {
  const { requestId } = useParams({ from: '/shell/developers/requests/$requestId' })
  const result = useQuery(reading('getApiRequest', { params: { api_request_id: requestId } }))
  return <Loaded result={result}>{(request) => <Detail request={request} />}</Loaded>
}

const Detail = ({ request }: { request: Request }) => (
  <Page
    title="API request"
    purpose="A request of the API as it was stored: ••• stands for what was masked before."
  >
    <Facts request={request} />
    {request.error_fields && request.error_fields.length > 0 && (
      <Stack gap="xs">
        <Title order={2} size="h4">
          What was wrong
        </Title>
        <ul>
          {request.error_fields.map(({ path, code }, at) => (
            <li key={at}>
              <Code>{path}</Code> {code.replaceAll('_', ' ')}
            </li>
          ))}
        </ul>
      </Stack>
    )}
    <Stack gap="xs">
      <Group gap="xs">
        <Title order={2} size="h4">
          As a command
        </Title>
        <CopyText value={request.curl} what="curl" isHidden />
      </Group>
      <Text size="sm">
        Put the key into <Code>OUTDIAL_API_KEY</Code> and your own values in the place of •••.
      </Text>
      <Code block component="pre" tabIndex={0} className="command">
        {request.curl}
      </Code>
    </Stack>
    <Body title="Body of the request" value={request.request_body} />
    <Body title="Body of the answer" value={request.response_body} />
  </Page>
)

const Facts = ({ request }: { request: Request }) => (
  <div className="wide" tabIndex={0}>
    <Table variant="vertical" layout="auto" aria-label="Facts" maw="48rem">
      <Table.Tbody>
        <Fact name="Request">
          <Code style={{ overflowWrap: 'anywhere' }}>
            {request.method} {request.path}
          </Code>
        </Fact>
        <Fact name="When">
          <Instant at={request.at} />
        </Fact>
        <Fact name="Answer">
          {request.status} {request.error_code ?? ''}
        </Fact>
        <Fact name="Operation">{request.operation ?? 'none: the path is unknown'}</Fact>
        <Fact name="Took">{request.duration_ms} ms</Fact>
        <Fact name="Idempotency">{idempotency[request.idempotency ?? 'none']}</Fact>
        <Fact name="Key">{request.key_name ?? request.api_key_id}</Fact>
        <Fact name="About">
          <TargetLink target={request.target} made={request.made} />
        </Fact>
        <Fact name="Request id">
          <CopyText value={request.request_id} what="request id" />
        </Fact>
      </Table.Tbody>
    </Table>
  </div>
)

const idempotency = {
  none: 'no Idempotency-Key',
  new: 'first request of its Idempotency-Key',
  replayed: 'replay: the stored answer of the first request',
  refused: 'refused, nothing was stored',
} as const

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th scope="row">{name}</Table.Th>
    <Table.Td>{children}</Table.Td>
  </Table.Tr>
)

const Body = ({ title, value }: { title: string; value: unknown }) =>
  value === null || value === undefined ? null : (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Code block component="pre" tabIndex={0} className="command">
        {JSON.stringify(value, undefined, 2)}
      </Code>
    </Stack>
  )

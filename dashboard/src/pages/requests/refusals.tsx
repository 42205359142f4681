import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'
import type { AnswerOf } from '../../client/table.ts'
import { AnchorLink } from '../../parts/anchor-link.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/states.tsx'

type Group = AnswerOf<'listRefusals'>['data'][number]

/** Refusals of the last seven days by operation and error code; nothing where there are none. */
export const Refusals = () => {
  const result = useQuery(reading('listRefusals', {}))
  return (
    <Loaded result={result}>
      {({ data }) =>
        data.length > 0 && (
          <Stack gap="xs">
            <Title order={2} size="h4">
              Refused in the last seven days
            </Title>
            <DataTable
              label="Refusals"
              columns={columns}
              rows={data}
              keyOf={(group) => group.first_id}
            />
          </Stack>
        )
      }
    </Loaded>
  )
}

const columns: readonly Column<Group>[] = [
  {
    name: 'Error',
    cell: ({ operation, method, error_code: code }) => (
      <AnchorLink
        to="/developers/requests"
        search={{
          status: 'refused',
          ...(operation !== null && { operation }),
          ...(code !== null && { error_code: code }),
        }}
      >
        {operation ?? `${method} of an unknown path`}: {code ?? 'error'}
      </AnchorLink>
    ),
  },
  { name: 'Times', cell: ({ count }) => count },
  { name: 'Keys', cell: ({ keys }) => keys },
  {
    name: 'First cause',
    cell: ({ first_field: field, error_code: code }) => {
      const told = code === null ? undefined : causes[code]
      return field ? `${field.path} ${field.code.replaceAll('_', ' ')}` : (told ?? '–')
    },
  },
  {
    name: 'First',
    cell: ({ first_id: requestId, first_at: at }) => (
      <AnchorLink to="/developers/requests/$requestId" params={{ requestId }}>
        <Instant at={at} />
      </AnchorLink>
    ),
  },
  {
    name: 'Latest',
    cell: ({ last_id: requestId, last_at: at }) => (
      <AnchorLink to="/developers/requests/$requestId" params={{ requestId }}>
        <Instant at={at} />
      </AnchorLink>
    ),
  },
]

/** Of codes that come without a field. */
const causes: Readonly<Record<string, string>> = {
  invalid_json: 'the body is no JSON',
  rate_limit_exceeded: 'the allowance of a minute is used up',
  insufficient_scope: 'the key lacks a scope',
  organization_not_enabled: 'the API is switched off in Settings',
  idempotency_conflict: 'the Idempotency-Key belongs to another request',
  idempotency_in_progress: 'the first request with this key still runs',
  method_not_allowed: 'the path has no such method',
  resource_not_found: 'the path names nothing that there is',
  resource_state_conflict: 'what it asks does not fit the state',
  request_too_large: 'the body is over 1 MiB',
  recipient_blocked_by_policy: 'the number is on the do-not-call list',
  unsupported_destination: 'the policy does not allow this destination',
}

import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { CreateKey, NewKey } from './create-key.tsx'

type ApiKey = AnswerOf<'listApiKeys'>['data'][number]

export const Keys = () => {
  const mayCreate = useMay(atLeast('admin'))
  const result = useQuery(reading('listApiKeys', {}))
  const { sort, create } = useSearch({ from: '/shell/settings/keys' })
  const navigate = useNavigate({ from: '/settings/keys' })
  const [isCreating, creating] = useDisclosure()
  const [secret, setSecret] = useState<string>()
  useEffect(() => {
    if (create === undefined) return
    creating.open()
    void navigate({ search: { sort }, replace: true })
  }, [create, creating, navigate, sort])
  return (
    <Page
      title="API keys"
      purpose="Programs use the API with a key. A key opens only what its scopes name; its secret is shown once."
      actions={
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : 'For administrators.'}
          onClick={creating.open}
        >
          Create key
        </Button>
      }
    >
      <Loaded result={result}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              what="No program has a key yet."
              command="./outdial key create --org ORG --name 'My program' --scopes calls:write,calls:read"
            />
          ) : (
            <DataTable
              label="Programs and their access"
              columns={columnsOf(setSecret)}
              rows={data}
              keyOf={({ id }) => id}
              sort={sort}
              onSort={(next) => void navigate({ search: { sort: next } })}
            />
          )
        }
      </Loaded>
      <CreateKey
        isOpen={isCreating}
        onClose={creating.close}
        onCreated={(made) => {
          creating.close()
          setSecret(made)
        }}
      />
      <NewKey secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  )
}

const columnsOf = (onSecret: (secret: string) => void): readonly Column<ApiKey>[] => [
  { name: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    name: 'Key',
    cell: ({ prefix, last_four: lastFour }) => (
      <Text ff="monospace" size="sm" style={{ whiteSpace: 'nowrap' }}>
        {prefix}…{lastFour}
      </Text>
    ),
  },
  { name: 'State', cell: (key) => <StatusBadge status={stateOf(key)} />, sortBy: stateOf },
  {
    name: 'Scopes',
    cell: ({ scopes }) => (
      <Group gap={4} miw="14rem">
        {scopes.map((scope) => (
          <Badge key={scope} variant="default" tt="none">
            {scope}
          </Badge>
        ))}
      </Group>
    ),
  },
  {
    name: 'Last used',
    cell: ({ last_used_at: at }) => (at === undefined ? 'never' : <Instant at={at} />),
    sortBy: ({ last_used_at: at }) => at,
  },
  {
    name: 'Ends',
    cell: ({ expires_at: at }) => <Instant at={at} />,
    sortBy: ({ expires_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
  { name: 'Actions', cell: (key) => <KeyActions apiKey={key} onSecret={onSecret} /> },
]

const stateOf = ({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey): string => {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && Date.parse(expiresAt) < Date.now() ? 'expired' : 'active'
}

const KeyActions = ({
  apiKey,
  onSecret,
}: {
  apiKey: ApiKey
  onSecret: (secret: string) => void
}) => {
  const rotate = useChange('rotateApiKey')
  const revoke = useChange('revokeApiKey')
  if (apiKey.revoked_at !== undefined) return null
  const params = { api_key_id: apiKey.id }
  return (
    <Stack gap={4} align="flex-start">
      <ConfirmButton
        label="Rotate"
        accessibleName={`Rotate ${apiKey.name}`}
        consequence="Makes a second key with the same scopes. The old one works until you revoke it: update the program, see that the new key is used, then revoke the old one."
        onConfirm={async () => onSecret((await rotate.mutateAsync({ params })).secret)}
      />
      <ConfirmButton
        label="Revoke"
        accessibleName={`Revoke ${apiKey.name}`}
        consequence="Every request with this key is refused from now on. This cannot be undone."
        onConfirm={() => revoke.mutateAsync({ params })}
      />
    </Stack>
  )
}

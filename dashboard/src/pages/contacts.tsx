import { Button, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { RecordList } from '../parts/record-list.tsx'

type Contact = AnswerOf<'listContacts'>['data'][number]

export const Contacts = () => {
  const search = useSearch({ from: '/shell/contacts' })
  const navigate = useNavigate({ from: '/contacts' })
  const { cursor, selected, q } = search
  const chosen = selected === undefined ? [] : selected.split(',')
  const mayChange = useMay(atLeast('operator'))
  const why = mayChange ? undefined : 'For operators and administrators.'
  const choose = (id: string, isChosen: boolean): void => {
    const ids = isChosen ? [...chosen, id] : chosen.filter((each) => each !== id)
    void navigate({ search: { ...search, selected: ids.length === 0 ? undefined : ids.join(',') } })
  }
  const listed = useQuery({
    ...reading('listContacts', { query: { cursor } }),
    enabled: q === undefined,
  })
  const found = useQuery({
    ...reading('findContacts', { query: { q: q ?? '' } }),
    enabled: q !== undefined,
    // Found contacts have no further page.
    select: ({ data, truncated }) => ({ data, truncated, next_cursor: null }),
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      title="Contacts"
      purpose="People your organization may call, newest first."
      actions={
        <>
          <Button
            variant="default"
            disabled={!mayChange}
            title={why}
            onClick={() => void navigate({ to: '/contacts/import', search: {} })}
          >
            Import a file
          </Button>
          <Button
            disabled={!mayChange || chosen.length === 0}
            title={why ?? (chosen.length === 0 ? 'Select contacts first.' : undefined)}
            onClick={() =>
              void navigate({ to: '/batches/new', search: { contacts: chosen.join(',') } })
            }
          >
            {chosen.length === 0 ? 'New batch' : `New batch of ${chosen.length}`}
          </Button>
        </>
      }
    >
      <ContactSearch
        q={q}
        disabledBecause={why && `${why} What is found would tell what is masked.`}
        onSearch={(next) =>
          void navigate({
            search: (now) => ({ ...now, q: next, cursor: undefined }),
            replace: true,
          })
        }
      />
      {q !== undefined && found.data?.truncated && (
        <Text size="sm">More contacts fit: these are the newest. Type more to find others.</Text>
      )}
      <RecordList
        label="Contacts"
        columns={[selectColumn(chosen, choose), ...columns]}
        result={q === undefined ? listed : found}
        keyOf={({ id }) => id}
        search={search}
        onSearch={(next) => void navigate({ search: next })}
        empty={{
          what: 'There is no contact yet. Programs make them:',
          command: `curl -s "$API/contacts" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"external_id": "crm-1842", "name": "Ada Lovelace", "phone_number": "+12025550100"}'`,
        }}
      />
    </Page>
  )
}

/** How long nothing is typed before the service is asked. */
const pauseMs = 250

const ContactSearch = ({
  q = '',
  disabledBecause,
  onSearch,
}: {
  q: string | undefined
  disabledBecause: string | undefined
  onSearch: (q: string | undefined) => void
}) => {
  const [typed, setTyped] = useState<string>()
  const search = useDebouncedCallback((text: string) => {
    onSearch(text === '' ? undefined : text)
    setTyped(undefined)
  }, pauseMs)
  return (
    <form role="search" onSubmit={(event) => event.preventDefault()}>
      <TextInput
        type="search"
        label="Search"
        description={disabledBecause ?? 'By name, number, company or external id.'}
        maw="24rem"
        maxLength={100}
        disabled={disabledBecause !== undefined}
        value={typed ?? q}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          search(value.trim())
        }}
      />
    </form>
  )
}

/** A batch of more contacts than an address can name is made from a file. */
const maxChosen = 100

const selectColumn = (
  chosen: readonly string[],
  choose: (id: string, isChosen: boolean) => void,
): Column<Contact> => ({
  name: 'Select',
  cell: ({ id, name }) => (
    <input
      type="checkbox"
      className="pick"
      aria-label={`Select ${name}`}
      checked={chosen.includes(id)}
      disabled={!chosen.includes(id) && chosen.length >= maxChosen}
      onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
    />
  ),
})

const columns: readonly Column<Contact>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <AnchorLink to="/contacts/$contactId" params={{ contactId: id }}>
        {name}
      </AnchorLink>
    ),
    sortBy: ({ name }) => name,
  },
  {
    name: 'Number',
    cell: ({ phone_number: number }) => number,
    sortBy: ({ phone_number: n }) => n,
  },
  { name: 'Company', cell: ({ company }) => company ?? '–', sortBy: ({ company }) => company },
  { name: 'Email', cell: ({ email }) => email ?? '–' },
  { name: 'Source', cell: ({ source }) => source ?? '–' },
  { name: 'External id', cell: ({ external_id: id }) => id ?? '–' },
  {
    name: 'Made',
    cell: ({ created_at: at }) => <Instant at={at} />,
    sortBy: ({ created_at: at }) => at,
  },
  { name: 'Id', cell: ({ id, name }) => <CopyText value={id} what={`id of ${name}`} isHidden /> },
]

import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { SearchBox, type SearchOption } from './search-box.tsx'

type Contact = AnswerOf<'findContacts'>['data'][number]

/** Offered before anything is typed. */
const newest = '20'
/** How long nothing is typed before the service is asked. */
const pauseMs = 200

interface ContactChoiceProps {
  readonly label?: string
  readonly description?: string
  /** The id of the contact; empty: none. */
  readonly value: string
  /** Stands in the field while nobody is chosen. */
  readonly none: string
  readonly error?: string | undefined
  readonly disabled?: boolean
  readonly onChange: (contactId: string) => void
}

/** One of all contacts, found by name, number, company or external id: for operators and above. */
export const ContactChoice = (properties: ContactChoiceProps) => {
  const {
    label = 'Contact',
    description,
    value,
    none,
    error,
    disabled = false,
    onChange,
  } = properties
  const [typed, setTyped] = useState<string>()
  const [picked, setPicked] = useState<SearchOption>()
  const search = useContactSearch(typed ?? '', !disabled)
  const chosen = useQuery({
    ...reading('getContact', { params: { contact_id: value } }),
    enabled: value !== '' && value !== picked?.id && !disabled,
  })
  const known = value === picked?.id ? picked.label : chosen.data && nameOf(chosen.data)
  const named = value === '' ? '' : (known ?? value)
  return (
    <SearchBox
      label={label}
      description={description ?? 'By name, number, company or external id.'}
      placeholder={none}
      error={error}
      disabled={disabled}
      text={typed ?? named}
      options={search.options}
      isLoading={search.isLoading}
      none="No contact fits."
      note={search.note}
      onText={(text) => {
        setTyped(text)
        if (value !== '') onChange('')
      }}
      onChoose={(option) => {
        setTyped(undefined)
        setPicked(option)
        onChange(option.id)
      }}
    />
  )
}

/** The contacts that fit a text, or the newest ones. */
const useContactSearch = (text: string, isAllowed: boolean) => {
  const [settled] = useDebouncedValue(text.trim(), pauseMs)
  const found = useQuery({
    ...reading('findContacts', { query: { q: settled } }),
    enabled: isAllowed && settled !== '',
    placeholderData: keepPreviousData,
  })
  const latest = useQuery({
    ...reading('listContacts', { query: { limit: newest } }),
    enabled: isAllowed && settled === '',
  })
  const { isFetching } = settled === '' ? latest : found
  // The first search shows the newest until it has an answer.
  const data = settled === '' ? latest.data : (found.data ?? latest.data)
  const isCut = settled === '' ? latest.data?.next_cursor != null : found.data?.truncated === true
  return {
    options: (data?.data ?? []).map(optionOf),
    isLoading: isFetching || settled !== text.trim(),
    note: isCut
      ? settled === ''
        ? 'The newest contacts: type to find others.'
        : 'More fit: type more.'
      : undefined,
  }
}

type Named = Pick<Contact, 'name' | 'phone_number'>

const nameOf = ({ name, phone_number: number }: Named): string =>
  name === number ? name : `${name}, ${number}`

const optionOf = (contact: Contact): SearchOption => {
  const { id, company, external_id: externalId } = contact
  const detail = [company, externalId].filter(Boolean).join(' · ')
  return { id, label: nameOf(contact), ...(detail !== '' && { detail }) }
}

import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading } from '../../client/queries.ts'
import type { Search } from '../../routes.tsx'

/** As many as one page of Automations has. */
const maxAutomations = '100'

/** By Automation and by contact; the list itself has the filter by state. */
export const RunFilters = ({
  search,
  onSearch,
}: {
  search: Search
  onSearch: (search: Search) => void
}) => {
  const { data } = useQuery(reading('listAutomations', { query: { limit: maxAutomations } }))
  const automations = data?.data ?? []
  const chosen = search['automation_id'] ?? ''
  const isListed = chosen === '' || automations.some(({ id }) => id === chosen)
  const [contactId, setContactId] = useState(search['contact_id'] ?? '')
  const set = (name: string, value: string): void =>
    onSearch({ ...search, cursor: undefined, [name]: value === '' ? undefined : value })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        set('contact_id', contactId.trim())
      }}
    >
      <Group align="flex-end" gap="xs">
        <NativeSelect
          size="xs"
          label="Automation"
          value={chosen}
          data={[
            { value: '', label: 'Any' },
            ...(isListed ? [] : [{ value: chosen, label: chosen }]),
            ...automations.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ currentTarget }) => set('automation_id', currentTarget.value)}
        />
        <TextInput
          size="xs"
          label="Contact id"
          value={contactId}
          onChange={({ currentTarget }) => setContactId(currentTarget.value)}
        />
        <Button size="xs" type="submit" variant="default">
          Filter
        </Button>
      </Group>
    </form>
  )
}

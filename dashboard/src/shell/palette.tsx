import { Modal } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Role } from '../../../src/contract/roles.ts'
import { reading } from '../client/queries.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { foundTargets, knownTargets, type Target } from './targets.ts'

/** How long nothing is typed before the service is asked. */
const pauseMs = 200

interface PaletteProps {
  readonly role: Role
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Goes to what is named: a page, an action, a thing by its id, a person by name or number. */
export const Palette = ({ role, isOpen, onClose }: PaletteProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title="Go to"
    size="lg"
    yOffset="10vh"
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <Chooser role={role} onClose={onClose} />
  </Modal>
)

const Chooser = ({ role, onClose }: Omit<PaletteProps, 'isOpen'>) => {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const asked = text.trim()
  const [settled] = useDebouncedValue(asked, pauseMs)
  const found = useQuery({
    ...reading('search', { query: { q: settled } }),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
  })
  const data = asked === '' ? [] : (found.data?.data ?? [])
  const options = [...foundTargets(data), ...knownTargets(role, asked)]
  return (
    <SearchBox<Target>
      label="Page, action, name, number or id"
      text={text}
      options={options}
      isLoading={found.isFetching || settled !== asked}
      none="Nothing fits."
      isOpenAlways
      onText={setText}
      onChoose={({ path }) => {
        onClose()
        void navigate({ href: path })
      }}
    />
  )
}

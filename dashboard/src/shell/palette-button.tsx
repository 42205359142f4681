import { Button, Text } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import type { Role } from '../../../src/contract/roles.ts'
import { fetchProgram } from '../client/fetch-program.ts'

/** Its program is fetched when it is opened first. */
const Palette = lazy(() =>
  fetchProgram(() => import('./palette.tsx')).then((program) => ({ default: program.Palette })),
)

/** Opens the palette, as Ctrl+K or Command+K does from anywhere, fields included. */
export const PaletteButton = ({ role }: { role: Role }) => {
  const [isOpen, { open, close }] = useDisclosure()
  const [wasOpened, setWasOpened] = useState(false)
  const show = (): void => {
    setWasOpened(true)
    open()
  }
  useHotkeys([['mod+K', show]], [], true)
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-label="Go to"
        aria-keyshortcuts="Control+K Meta+K"
        title="Go to a page, an id or a number (Ctrl+K)"
        onClick={show}
      >
        <Text component="span" inherit visibleFrom="xs">
          Go to
        </Text>
        <Text component="span" inherit hiddenFrom="xs" aria-hidden>
          ⌕
        </Text>
      </Button>
      {wasOpened && (
        <Suspense fallback={null}>
          <Palette role={role} isOpen={isOpen} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

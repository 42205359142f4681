import { Button, Group } from '@mantine/core'

interface PageLinksProps {
  readonly isFirst: boolean
  readonly onNewest: () => void
  /** None on the last page. */
  readonly onOlder: (() => void) | undefined
}

/** Lists go from newest to oldest by a cursor: on to older ones, or back to the newest. */
export const PageLinks = ({ isFirst, onNewest, onOlder }: PageLinksProps) => (
  <Group component="nav" aria-label="Pages of the list" justify="flex-end">
    <Button variant="default" size="xs" disabled={isFirst} onClick={onNewest}>
      Newest
    </Button>
    <Button variant="default" size="xs" disabled={!onOlder} onClick={onOlder}>
      Older
    </Button>
  </Group>
)

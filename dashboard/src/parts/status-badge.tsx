import { Badge } from '@mantine/core'

/** Each at least 4.5 to 1 under white: the palette's yellow and orange are lighter. */
const colors: Readonly<Record<string, string>> = {
  queued: 'gray.8',
  pending: 'gray.8',
  draft: 'gray.8',
  scheduled: 'indigo.8',
  dialing: '#7a4b00',
  waiting: 'indigo.8',
  in_progress: 'blue.8',
  running: 'blue.8',
  paused: '#a63d07',
  completed: 'teal.9',
  active: 'teal.9',
  published: 'teal.9',
  available: 'teal.9',
  failed: 'red.9',
  revoked: 'red.9',
}

/** A state in words; its colour says no more than the word. */
export const StatusBadge = ({ status }: { status: string }) => (
  <Badge
    miw="max-content"
    color={colors[status] ?? 'gray.8'}
    variant="filled"
    tt="none"
    autoContrast={false}
  >
    {status.replaceAll('_', ' ')}
  </Badge>
)

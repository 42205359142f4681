/** Each at least 4.5 to 1 under white: the palette's yellow and orange are lighter. */
const colors: Readonly<Record<string, string>> = {
  queued: 'var(--mantine-color-gray-8)',
  pending: 'var(--mantine-color-gray-8)',
  draft: 'var(--mantine-color-gray-8)',
  scheduled: 'var(--mantine-color-indigo-8)',
  dialing: '#7a4b00',
  waiting: 'var(--mantine-color-indigo-8)',
  in_progress: 'var(--mantine-color-blue-8)',
  running: 'var(--mantine-color-blue-8)',
  paused: '#a63d07',
  completed: 'var(--mantine-color-teal-9)',
  active: 'var(--mantine-color-teal-9)',
  published: 'var(--mantine-color-teal-9)',
  available: 'var(--mantine-color-teal-9)',
  failed: 'var(--mantine-color-red-9)',
  revoked: 'var(--mantine-color-red-9)',
}

/** A state in words; its colour says no more than the word. Every row of a list has one, so it is a plain element. */
export const StatusBadge = ({ status }: { status: string }) => (
  <span
    className="status"
    style={{ backgroundColor: colors[status] ?? 'var(--mantine-color-gray-8)' }}
  >
    {status.replaceAll('_', ' ')}
  </span>
)

import { Progress, Stack, Text } from '@mantine/core'
import type { WorkProgress } from './import-work.ts'

/** How far the work on a large file is; it goes on if the page is left. */
export const Working = ({ progress, what }: { progress: WorkProgress | undefined; what: string }) =>
  progress && (
    <Stack gap="xs" w="100%" role="status">
      <Text size="sm">
        {progress.done} of {progress.total} rows are {what}. This goes on if you leave the page.
      </Text>
      <Progress
        value={(progress.done / progress.total) * 100}
        aria-label={`${progress.done} of ${progress.total} rows are ${what}`}
      />
    </Stack>
  )

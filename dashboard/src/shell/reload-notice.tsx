import { Alert, Text } from '@mantine/core'
import { useState } from 'react'
import { takeReloadNotice } from '../client/fetch-program.ts'

// Read once for the whole page: React may begin a component twice.
const wasReloaded = takeReloadNotice()

/** Says why the page was loaded anew by itself. */
export const ReloadNotice = () => {
  const [isShown, setIsShown] = useState(wasReloaded)
  if (!isShown) return null
  return (
    <Alert
      role="status"
      color="indigo"
      variant="outline"
      mb="md"
      title="The dashboard was updated"
      withCloseButton
      closeButtonLabel="Close the notice"
      onClose={() => setIsShown(false)}
    >
      <Text size="sm">This page was loaded anew, because its older program is gone.</Text>
    </Alert>
  )
}

import { Alert } from '@mantine/core'
import { useState } from 'react'
import { takeNotice } from '../client/window-organization.ts'

const isDue = takeNotice()

/** Says why this window shows another organization than before. */
export const OrganizationNotice = ({ name }: { name: string }) => {
  const [isShown, setShown] = useState(isDue)
  if (!isShown) return null
  return (
    <Alert
      role="status"
      color="indigo"
      variant="outline"
      mb="md"
      title={`Now showing ${name}`}
      withCloseButton
      closeButtonLabel="Close the notice"
      onClose={() => setShown(false)}
    >
      Another window opened {name}, so this one shows it too. What you did here meanwhile was not
      carried out.
    </Alert>
  )
}

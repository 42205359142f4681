import { Button } from '@mantine/core'
import { atLeast } from '../../../../src/contract/roles.ts'
import { useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { saveText } from '../../parts/save-text.ts'

type Automation = AnswerOf<'getAutomation'>

/** What can be done with an Automation besides editing it. */
export const AutomationActions = ({ automation }: { automation: Automation }) => {
  const set = useChange('setAutomationStatus')
  const mayChange = useMay(atLeast('admin'))
  const disabledBecause = mayChange ? undefined : 'For administrators.'
  const become = (status: 'active' | 'paused' | 'archived') =>
    set.mutateAsync({ params: { automation_id: automation.id }, body: { status } })
  return (
    <>
      <CopyText value={automation.id} what="Automation id" isHidden />
      <Button size="compact-sm" variant="default" onClick={() => save(automation)}>
        Export
      </Button>
      {automation.status === 'active' && (
        <ConfirmButton
          label="Pause"
          consequence="It takes no runs, and active runs stay where they are; live calls go on. It can be resumed."
          disabledBecause={disabledBecause}
          onConfirm={() => become('paused')}
        />
      )}
      {(automation.status === 'paused' || automation.status === 'draft') && (
        <ConfirmButton
          label={automation.status === 'draft' ? 'Activate' : 'Resume'}
          consequence="It takes runs, and runs that were held go on."
          disabledBecause={disabledBecause}
          onConfirm={() => become('active')}
        />
      )}
      {automation.status !== 'archived' && (
        <ConfirmButton
          label="Archive"
          consequence="It takes no runs any more, and its active runs fail once their live calls have ended. This cannot be undone."
          disabledBecause={disabledBecause}
          onConfirm={() => become('archived')}
        />
      )}
    </>
  )
}

const save = ({ name, description, definition }: Automation): void => {
  const file = { name, ...(description !== undefined && { description }), definition }
  saveText('automation.json', `${JSON.stringify(file, null, 2)}\n`, 'application/json')
}

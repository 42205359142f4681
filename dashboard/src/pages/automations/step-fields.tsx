import { Text } from '@mantine/core'
import type { AnswerOf } from '../../client/table.ts'
import { BranchFields } from './branch-fields.tsx'
import { CallFields } from './call-fields.tsx'
import { textOf, type Members } from './draft.ts'
import { EndFields } from './end-fields.tsx'
import { WaitFields } from './wait-fields.tsx'

export type Agents = AnswerOf<'listAgents'>['data']

export interface StepFieldsProps {
  readonly step: Members
  /** Of all steps: where this one may lead. */
  readonly names: readonly string[]
  readonly agents: Agents
  /** By the path within the step. */
  readonly problems: ReadonlyMap<string, string>
  readonly isReadOnly: boolean
  readonly onChange: (step: Members) => void
}

export const StepFields = (properties: StepFieldsProps) => {
  switch (textOf(properties.step, 'type')) {
    case 'call':
      return <CallFields {...properties} />
    case 'wait':
      return <WaitFields {...properties} />
    case 'branch':
      return <BranchFields {...properties} />
    case 'end':
      return <EndFields {...properties} />
    default:
      return <Text size="sm">This kind of step is written under Definition.</Text>
  }
}

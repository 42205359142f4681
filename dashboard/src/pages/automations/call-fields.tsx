import { Checkbox, Fieldset, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { answerStatuses } from '../../../../src/contract/states.ts'
import { listOf, membersOf, textOf, textsOf, withoutMember, type Members } from './draft.ts'
import { ListField } from './list-field.tsx'
import type { StepFieldsProps } from './step-fields.tsx'
import { StepChoice } from './step-choice.tsx'

/** A call: who speaks, where it leads, and when it is tried again. */
export const CallFields = ({
  step,
  names,
  agents,
  problems,
  isReadOnly,
  onChange,
}: StepFieldsProps) => {
  const agentId = textOf(step, 'agent_id')
  const isKnown = agents.some(({ id }) => id === agentId)
  const retry = 'retry' in step ? membersOf(step['retry']) : undefined
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NativeSelect
          label="Agent"
          error={problems.get('agent_id')}
          disabled={isReadOnly}
          value={agentId}
          data={[
            ...(isKnown
              ? []
              : [{ value: agentId, label: agentId === '' ? 'Choose an agent' : agentId }]),
            ...agents.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ currentTarget }) => onChange({ ...step, agent_id: currentTarget.value })}
        />
        <StepChoice
          label="Then"
          value={textOf(step, 'next')}
          names={names}
          error={problems.get('next')}
          isReadOnly={isReadOnly}
          onChange={(next) => onChange({ ...step, next })}
        />
      </SimpleGrid>
      <Checkbox
        label="Try again"
        checked={retry !== undefined}
        disabled={isReadOnly}
        onChange={({ currentTarget }) => onChange(withRetry(step, currentTarget.checked))}
      />
      {retry && (
        <RetryFields
          retry={retry}
          problems={problems}
          isReadOnly={isReadOnly}
          onChange={(changed) => onChange({ ...step, retry: changed })}
        />
      )}
    </Stack>
  )
}

const withRetry = (step: Members, isRetried: boolean): Members =>
  isRetried
    ? { ...step, retry: { max_attempts: 3, delays: ['PT30M'], on: ['no_answer', 'busy'] } }
    : withoutMember(step, 'retry')

interface RetryFieldsProps extends Pick<StepFieldsProps, 'problems' | 'isReadOnly' | 'onChange'> {
  readonly retry: Members
}

const RetryFields = ({ retry, problems, isReadOnly, onChange }: RetryFieldsProps) => {
  const on = textsOf(retry['on'])
  const attempts = retry['max_attempts']
  const delayProblem = [...problems].find(([path]) => path.startsWith('retry.delays'))?.[1]
  return (
    <Fieldset legend="Further attempts">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Attempts in all"
          inputMode="numeric"
          error={problems.get('retry.max_attempts')}
          readOnly={isReadOnly}
          value={typeof attempts === 'number' ? String(attempts) : textOf(retry, 'max_attempts')}
          onChange={({ currentTarget }) =>
            onChange({ ...retry, max_attempts: numberOf(currentTarget.value) })
          }
        />
        <ListField
          label="Delays before them"
          description="One a line, such as PT30M or P1D; the last one repeats."
          values={listOf(retry['delays']).map(String)}
          error={delayProblem}
          isReadOnly={isReadOnly}
          onChange={(delays) => onChange({ ...retry, delays })}
        />
      </SimpleGrid>
      <Checkbox.Group
        mt="xs"
        label="After these answers"
        error={problems.get('retry.on')}
        value={[...on]}
        onChange={(chosen) =>
          onChange({ ...retry, on: answerStatuses.filter((each) => chosen.includes(each)) })
        }
      >
        <Stack gap={4} mt={4}>
          {answerStatuses.map((answer) => (
            <Checkbox
              key={answer}
              value={answer}
              label={answer.replaceAll('_', ' ')}
              disabled={isReadOnly}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </Fieldset>
  )
}

/** What is no number stays as it was typed: the service says what is wrong with it. */
const numberOf = (text: string): number | string =>
  /^\d{1,9}$/.test(text.trim()) ? Number(text) : text

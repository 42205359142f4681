import { NativeSelect, SimpleGrid } from '@mantine/core'
import { textOf, withoutMember, type Members } from './draft.ts'
import { runFailureCodes } from './failure-codes.ts'
import type { StepFieldsProps } from './step-fields.tsx'

export const EndFields = ({ step, problems, isReadOnly, onChange }: StepFieldsProps) => {
  const result = textOf(step, 'result')
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <NativeSelect
        label="The run ends"
        error={problems.get('result')}
        disabled={isReadOnly}
        value={result}
        data={['completed', 'failed']}
        onChange={({ currentTarget }) => onChange(withResult(step, currentTarget.value))}
      />
      {(result === 'failed' || 'failure_code' in step) && (
        <NativeSelect
          label="Failure code"
          error={problems.get('failure_code')}
          disabled={isReadOnly}
          value={textOf(step, 'failure_code')}
          data={[
            { value: '', label: 'call_failed (as none is given)' },
            ...runFailureCodes.map((code) => ({ value: code, label: code })),
          ]}
          onChange={({ currentTarget }) => onChange(withCode(step, currentTarget.value))}
        />
      )}
    </SimpleGrid>
  )
}

const withResult = ({ failure_code: code, ...step }: Members, result: string): Members => ({
  ...step,
  result,
  ...(result === 'failed' && code !== undefined && { failure_code: code }),
})

const withCode = (step: Members, code: string): Members =>
  code === '' ? withoutMember(step, 'failure_code') : { ...step, failure_code: code }

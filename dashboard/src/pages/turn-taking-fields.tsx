import { NativeSelect, Stack } from '@mantine/core'
import { LinesField } from '../parts/lines-field.tsx'
import { isMembers, itemsOf, textOf, withMember, type AgentFile } from './agent-file.ts'
import { problemAt, type AgentFieldsProps } from './agent-fields.tsx'

interface Choice {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly usual: string
  readonly data: readonly { readonly value: string; readonly label: string }[]
}

const choices: readonly Choice[] = [
  {
    name: 'detection',
    label: 'Turns',
    description: 'Who finds out what interrupts the agent, and when a person has finished.',
    usual: 'engine',
    data: [
      { value: 'engine', label: 'The voice engine, by the length of sounds' },
      { value: 'outdial', label: 'Outdial, by words and sounds' },
    ],
  },
  {
    name: 'first_words',
    label: 'First words',
    description: 'A "Hello?" of the person who picks up is no turn.',
    usual: 'agent',
    data: [
      { value: 'agent', label: 'The agent greets at once' },
      { value: 'wait', label: 'The agent waits for a "Hello?", one second at most' },
      { value: 'callee', label: 'The agent replies to what is said first' },
    ],
  },
  {
    name: 'patience',
    label: 'Patience',
    description: 'How long a pause may be before the agent replies.',
    usual: 'normal',
    data: [
      { value: 'short', label: 'Short pauses' },
      { value: 'normal', label: 'Usual pauses' },
      { value: 'long', label: 'Long pauses' },
    ],
  },
  {
    name: 'interruption_sensitivity',
    label: 'Interruptions',
    description: 'How soon a voice whose words are not known yet takes the turn.',
    usual: 'normal',
    data: [
      { value: 'low', label: 'After 1.5 seconds' },
      { value: 'normal', label: 'After 1 second' },
      { value: 'high', label: 'After half a second' },
    ],
  },
]

/** Who speaks when. */
export const TurnTakingFields = ({ file, problems, isReadOnly, onChange }: AgentFieldsProps) => {
  const chosen: AgentFile = isMembers(file['turn_taking']) ? file['turn_taking'] : {}
  const change = (name: string, value: unknown): void => {
    const next = withMember(chosen, name, value)
    onChange(withMember(file, 'turn_taking', Object.keys(next).length === 0 ? undefined : next))
  }
  return (
    <Stack mb="md">
      {choices.map(({ name, label, description, usual, data }) => (
        <NativeSelect
          key={name}
          label={label}
          description={description}
          value={textOf(chosen, name) || usual}
          disabled={isReadOnly}
          error={problemAt(problems, `turn_taking.${name}`)}
          data={[...data]}
          onChange={({ currentTarget }) =>
            change(name, currentTarget.value === usual ? undefined : currentTarget.value)
          }
        />
      ))}
      <LinesField
        label="Words that do not interrupt"
        description="One a line, besides those of the language, such as uh-huh, right and okay."
        lines={itemsOf(chosen, 'backchannel_words').map(String)}
        isReadOnly={isReadOnly}
        error={wordsProblem(problems)}
        onChange={(words) => change('backchannel_words', words.length === 0 ? undefined : words)}
      />
    </Stack>
  )
}

const wordsProblem = (problems: AgentFieldsProps['problems']): string | undefined =>
  problems.find(({ path }) => path.startsWith('turn_taking.backchannel_words'))?.message

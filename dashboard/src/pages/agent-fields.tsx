import { NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { textOf, withMember, type AgentFile, type Problem } from './agent-file.ts'

export interface AgentFieldsProps {
  readonly file: AgentFile
  /** Problems to show at their fields. */
  readonly problems: readonly Problem[]
  readonly isReadOnly: boolean
  readonly onChange: (file: AgentFile) => void
}

/** What was said to one path. */
export const problemAt = (problems: readonly Problem[], path: string): string | undefined =>
  problems.find((problem) => problem.path === path)?.message

/** The input's properties for a text member of the file. */
export const textField = (
  { file, problems, isReadOnly, onChange }: AgentFieldsProps,
  name: string,
) => ({
  value: textOf(file, name),
  readOnly: isReadOnly,
  error: problemAt(problems, name),
  onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
    onChange(withMember(file, name, currentTarget.value)),
})

/** What the agent says. */
export const TextFields = (properties: AgentFieldsProps) => {
  const field = (name: string) => textField(properties, name)
  return (
    <Stack>
      <TextInput label="Name" maxLength={200} {...field('name')} />
      <TextInput label="Description" maxLength={1000} {...field('description')} />
      <TextInput label="Language" description="BCP 47: en-US, de-DE." {...field('language')} />
      <Textarea
        label="Greeting"
        description="Said first, word for word."
        maxLength={2000}
        autosize
        minRows={2}
        {...field('greeting')}
      />
      <Textarea
        label="Prompt"
        description="The agent's instructions. {{contact.name|there}} is filled in for each call."
        maxLength={50_000}
        autosize
        minRows={8}
        maxRows={30}
        {...field('prompt')}
      />
      <VoicemailFields {...properties} />
      <NativeSelect
        label="Recording"
        description="Without one the words are still written down. Where the organization records no call, none is recorded."
        value={textOf(properties.file, 'recording') || 'always'}
        disabled={properties.isReadOnly}
        error={problemAt(properties.problems, 'recording')}
        data={[
          { value: 'always', label: 'Record every call' },
          { value: 'never', label: 'Record no call' },
        ]}
        onChange={({ currentTarget }) =>
          properties.onChange(withMember(properties.file, 'recording', currentTarget.value))
        }
      />
    </Stack>
  )
}

const VoicemailFields = (properties: AgentFieldsProps) => {
  const { file, problems, isReadOnly, onChange } = properties
  return (
    <>
      <NativeSelect
        label="At a voicemail"
        value={textOf(file, 'voicemail')}
        disabled={isReadOnly}
        error={problemAt(problems, 'voicemail')}
        data={[
          { value: 'hang_up', label: 'Hang up' },
          { value: 'leave_message', label: 'Leave a message' },
        ]}
        onChange={({ currentTarget }) =>
          onChange(withMember(file, 'voicemail', currentTarget.value))
        }
      />
      {textOf(file, 'voicemail') === 'leave_message' && (
        <Textarea
          label="Voicemail message"
          maxLength={2000}
          autosize
          minRows={2}
          {...textField(properties, 'voicemail_message')}
        />
      )}
    </>
  )
}
